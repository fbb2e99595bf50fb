/* Packets: the members of `ready`, the lists and the set that belong together. */
#include <stdlib.h>
#include <string.h>

#include "model/model_look.h"
#include "model/model_packet.h"

/* Of `ready`, the lists and the set, in any order. */
static model_seen_packet *packet_of(int queue, const char *key, const char *text)
{
    static model_seen_packet none;
    model_seen_queue *q = &model_now_seen.queues[queue];
    char *end;
    long p = strtol(text, &end, 10);
    for (int i = 0; i < q->packet_count; i++)
        if (q->packets[i].p == p) return &q->packets[i];
    if (end == text || *end || p < 0 || q->packet_count == PACKETS) {
        model_stray(queue, key, text);
        return &none;
    }
    q->packets[q->packet_count].p = (int)p;
    return &q->packets[q->packet_count++];
}

void model_see_packet(int queue, const char *p, int64_t score)
{
    model_seen_packet *packet = packet_of(queue, "ready", p);
    packet->ready = true;
    packet->score = score;
}

void model_read_packets(int queue, const char *rest, const rv_reply *found)
{
    for (size_t i = 0; i < found->count; i++) packet_of(queue, rest, found->items[i]->text)->listed = true;
}

void model_read_packet_of(int queue, const char *rest, const rv_reply *found)
{
    model_seen_packet *packet = packet_of(queue, "packet:", rest);
    packet->count = 0;
    for (size_t i = 0; i < found->count; i++) {
        int id = model_id_of(found->items[i]->text);
        if (id < 0 || packet->count == SLOTS) {
            model_stray(queue, "packet:", found->items[i]->text);
        } else {
            packet->ids[packet->count++] = id;
        }
    }
}

void model_open_packets(model_seen *seen)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        model_seen_queue *q = &seen->queues[queue];
        for (int i = 0; i < q->packet_count; i++) {
            for (int j = 0; j < q->packets[i].count; j++) {
                model_seen_task *task = &q->tasks[q->packets[i].ids[j]];
                task->places++;
                task->state = READY;
                task->score = q->packets[i].score + (int64_t)SPACING * j;
                task->packet = q->packets[i].p + 1;
            }
        }
    }
}
