# The device library's files, in the order in which they are embedded (src/codegen/embed.sh).
DEVLIB_FILES = gc_abi.h gc_target.h gc_gang.h gc_stop.h gc_time.h gc_deliver.h gc_value.h gc_calendar.h gc_numeric.h gc_near.h gc_tile.h gc_pair.h gc_packed.h gc_table.h gc_agg.h gc_top.h \
	gc_visit.h gc_packet.h gc_selection.h gc_key_group.h gc_like.h gc_md5.h gc_text.h gc_holes.h gc_window.h
