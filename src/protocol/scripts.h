/*
 * scripts.h - the protocol's scripts, one for each file in src/lua, whose head describes its arguments and reply.
 */
#ifndef RV_PROTOCOL_SCRIPTS_H
#define RV_PROTOCOL_SCRIPTS_H

#include "redis/script.h"

extern const rv_script rv_script_enqueue;
extern const rv_script rv_script_turn;
extern const rv_script rv_script_begin_session;
extern const rv_script rv_script_lease_task;
extern const rv_script rv_script_recover;
extern const rv_script rv_script_wake_idle;
extern const rv_script rv_script_block;
extern const rv_script rv_script_regain;
extern const rv_script rv_script_heartbeat;
extern const rv_script rv_script_end_session;
extern const rv_script rv_script_maintain;
extern const rv_script rv_script_reap;
extern const rv_script rv_script_progress;
extern const rv_script rv_script_checkpoint;
extern const rv_script rv_script_log;
extern const rv_script rv_script_show;
extern const rv_script rv_script_result;
extern const rv_script rv_script_list;
extern const rv_script rv_script_stat;
extern const rv_script rv_script_overview;
extern const rv_script rv_script_overdue;
extern const rv_script rv_script_rights;
extern const rv_script rv_script_why;
extern const rv_script rv_script_stats;
extern const rv_script rv_script_minutes;
extern const rv_script rv_script_retry;
extern const rv_script rv_script_cancel;
extern const rv_script rv_script_cancelled;
extern const rv_script rv_script_delete;
extern const rv_script rv_script_wait;
extern const rv_script rv_script_wait_look;
extern const rv_script rv_script_pause;
extern const rv_script rv_script_reschedule;
extern const rv_script rv_script_edit;
extern const rv_script rv_script_forget;
extern const rv_script rv_script_move;
extern const rv_script rv_script_arrive;
extern const rv_script rv_script_unlock;
extern const rv_script rv_script_add_log;
extern const rv_script rv_script_expire;
extern const rv_script rv_script_fail;
extern const rv_script rv_script_settings;
extern const rv_script rv_script_limit;
extern const rv_script rv_script_limits;
extern const rv_script rv_script_pause_for;
extern const rv_script rv_script_failures;
extern const rv_script rv_script_failure_types;
extern const rv_script rv_script_bulk_update;
extern const rv_script rv_script_bulk_look;
extern const rv_script rv_script_find;
extern const rv_script rv_script_cron;
extern const rv_script rv_script_cron_look;
extern const rv_script rv_script_fire;
extern const rv_script rv_script_tags;
extern const rv_script rv_script_list_by_tag;
extern const rv_script rv_script_events;
extern const rv_script rv_script_events_look;
extern const rv_script rv_script_depend;
extern const rv_script rv_script_signal;
extern const rv_script rv_script_link;
extern const rv_script rv_script_deliver;
extern const rv_script rv_script_fan;
extern const rv_script rv_script_outbox;
extern const rv_script rv_script_once;
extern const rv_script rv_script_suspect;
extern const rv_script rv_script_stuck;
extern const rv_script rv_script_check;
extern const rv_script rv_script_repair;

#endif
