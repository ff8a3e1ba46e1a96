# Common code of tests of shared scans: a server whose sessions ask together, so that one scan
# of a table answers several.  And what can happen to them meanwhile.
#
#   my $scan = SharedScan->new(name => 'server', sessions => 12, kind => 'selection scan',
#       counters => [ 'columns of gpuconc_stat, gpuconc_stat_memory or gpuconc_stat_sharing' ], conf => 'lines of postgresql.conf');
package SharedScan;

use strict;
use warnings;

use GpuconcTest;
use PostgreSQL::Test::Utils;
use Test::More;

# A server, without tables.  Names of sessions begin with "name".
sub new
{
	my ($class, %options) = @_;
	my $self = bless { counters => [], conf => '', prefix => '', asking => [], %options }, $class;

	# With versioned pages, a session that loads some makes a directory that others may not have yet.
	# So it would be left to chance which sessions share a scan.
	$self->{node} = new_server($self->{name}, qq{
gpuconc.debug_versioned_pages = off
gpuconc.batch_log_size = 4096
gpuconc.schedule = twostage
max_connections = 60
log_statement = none
$self->{conf}});
	keep_session($self->{node});
	return $self;
}

sub node { return $_[0]{node} }

sub sessions { return $_[0]{asking} }

sub sql
{
	my ($self, $sql) = @_;

	return $self->{node}->safe_psql('postgres', $sql);
}

# In a session that asks with others.
sub in_session
{
	my ($self, $number, $sql) = @_;

	return $self->{asking}[$number]->query_safe($sql);
}

sub new_session
{
	my ($self, $number) = @_;

	eval { $self->{asking}[$number]->quit } if $self->{asking}[$number];
	$self->{asking}[$number] = session($self->{node}, "$self->{name}$number");
	return;
}

sub new_sessions
{
	my ($self) = @_;

	$self->{asking} = [];
	$self->new_session($_) for (0 .. $self->{sessions} - 1);
	return;
}

# Is each of these queries offloaded by itself?  By name.
sub alone
{
	my ($self, %queries) = @_;

	is_offloaded($self->{node}, $queries{$_}, "alone: $_") foreach (sort keys %queries);
	is(stat_of($self->{node}, 'retries'), '0', 'no request has to be repeated');
	return;
}

# From now on, requests that are held back share scans of this kind.
sub force
{
	my ($self, $setting) = @_;

	configure($self->{node}, 'gpuconc.debug_force_shared_scan' => $setting);
	return;
}

# Forget what is known of tables: their columns, their shapes and kernels.
sub fresh
{
	my ($self, @tables) = @_;

	query_server($self->{node}, "SELECT gpuconc_evict('$_'), gpuconc_prewarm('$_')") foreach (@tables);
	return;
}

sub counters
{
	my ($self) = @_;

	return @{ $self->{counters} } ? split /\|/, query_server($self->{node}, 'SELECT ' . join(', ', @{ $self->{counters} }) . ' FROM gpuconc_stat, gpuconc_stat_memory, gpuconc_stat_sharing') : ();
}

# Queries of the first sessions, together: has each its right answer, from shared scans of so many
# members (as scans_after() says; undef: from whichever)?  Returns by how much the counters grew.
sub share
{
	my ($self, $message, $scans, @asked) = @_;
	my @before = $self->counters;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	answered_together($self->{node}, $self->{asking}, $self->{prefix} . $message, $self->{kind}, $scans, @asked);
	my @after = $self->counters;
	return map { $after[$_] - $before[$_] } (0 .. $#after);
}

# Something happens to session 2 while requests are held back.
sub held
{
	my ($self, $message, $asked, $other, $do, $setting) = @_;
	my ($node, $sessions) = @$self{qw(node asking)};
	my @right = map { own_answer($sessions->[$_], $asked->[$_]) } (0 .. $#$asked);
	my $other_right = own_answer($sessions->[ @$asked ], $other);
	my $last = last_batch($node);

	$sessions->[2]->query_safe($setting) if $setting;
	configure($node, 'gpuconc.debug_hold_requests' => scalar @$asked);
	ask($sessions->[$_], $asked->[$_]) for (0 .. $#$asked - 1);
	# Session 2 may be gone by now.
	wait_until_waiting($node, "^$self->{name}(?!2\$)", $#$asked - 1);
	$do->();
	# Sessions that have gone are replaced, and the last one lets them go.  It asks something
	# else: an equal query might get the result of a request that has gone, but is still there.
	ask($sessions->[ @$asked ], $other);
	ask($sessions->[-1 + @$asked], $asked->[-1]);
	is(rows_of($sessions->[$_]), $right[$_], "$message: $_ has its answer") foreach (grep { $_ != 2 } (0 .. $#$asked));
	is(rows_of($sessions->[ @$asked ]), $other_right, "$message: and so has who comes later");
	is(scans_after($node, $self->{kind}, $last), scalar @$asked, "$message: one scan");
	configure($node, 'gpuconc.debug_hold_requests' => 0);
	return;
}

# Session 2 leaves in one of these ways while requests are held back, and comes back.
sub leaves
{
	my ($self, $how, $asked, $other) = @_;
	my ($node, $session, $name) = ($self->{node}, $self->{asking}[2], "$self->{name}2");
	my $gone = sub { wait_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = '$name'") };
	my %ways = (
		'cancelled' => sub {
			wait_until_waiting($node, "^$name\$");
			$self->sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = '$name'");
			like(rows_of($session), qr/canceling statement due to user request/, 'cancelled while it is held back') },
		'timed out' => sub {
			like(rows_of($session), qr/canceling statement due to statement timeout/, 'timed out while it is held back') },
		'terminated' => sub {
			wait_until_waiting($node, "^$name\$");
			$self->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '$name'");
			$gone->() },
		# psql is gone; the server notices that while it waits
		'disconnected' => sub { wait_until_waiting($node, "^$name\$"); $session->{run}->kill_kill; $gone->() });

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my %settings = ('timed out' => q{SET statement_timeout = '200ms'}, 'disconnected' => q{SET client_connection_check_interval = '10ms'});
	$self->held($how, $asked, $other, $ways{$how}, $settings{$how});
	$self->new_session(2);
	return;
}

# These queries with so much memory of the device, three times: data that is kept for
# convenience has to go.
sub with_little_memory
{
	my ($self, $limits, @asked) = @_;
	my $node = $self->{node};

	$_->quit foreach (@{ $self->{asking} });
	foreach my $limit (@$limits)
	{
		$node->append_conf('postgresql.conf', "gpuconc.device_memory_limit = $limit");
		$node->restart;
		wait_for_worker($node);
		$self->new_sessions;
		foreach my $round (1 .. 3)
		{
			my @got = together($node, $self->{asking}, @asked);

			is($got[$_], own_answer($self->{asking}[$_], $asked[$_]), "$limit, $round: $_ has its answer") for (0 .. $#asked);
		}
		nothing_held($node, "$limit of memory");
		$_->quit foreach (@{ $self->{asking} });
	}
	$self->{asking} = [];
	return;
}

sub finish
{
	my ($self) = @_;

	$_->quit foreach (@{ $self->{asking} });
	is(log_has($self->{node}, qr/PANIC|TRAP|was terminated by signal (?!9)/), 0, 'nothing bad in the log');
	stop_server($self->{node});
	return;
}

1;
