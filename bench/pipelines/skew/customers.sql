-- One order in fifty: its twelve lines lie in one lane's vector, and go to a hashed group each.
select c, sum(v) as total from skew_line join skew_order using (o) where day = 7 group by c order by total desc, c limit 20
