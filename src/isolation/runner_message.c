#include "isolation/runner_message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x72766d31u
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

typedef struct packet_head {
    uint32_t magic;
    uint16_t kind;
    uint16_t is_apart; /* 1: the body lies in the memfd that comes with the packet */
    uint32_t index;
    uint32_t unused;
    uint64_t run;
    uint64_t length; /* of the body */
} packet_head;

/* ---- sending --------------------------------------------------------------------------------------------------- */

static bool write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t put = write(fd, data, length);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        data += put;
        length -= (size_t)put;
    }
    return true;
}

static int make_apart(const char *body, size_t length)
{
    int fd = memfd_create("reeve-message", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (write_all(fd, body, length) && fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL) == 0) return fd;
    (void)close(fd);
    return -1;
}

static void attach(struct msghdr *packet, char *room, size_t size, int fd)
{
    memset(room, 0, size);
    packet->msg_control = room;
    packet->msg_controllen = size;
    struct cmsghdr *control = CMSG_FIRSTHDR(packet);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(fd));
    memcpy(CMSG_DATA(control), &fd, sizeof(fd));
}

reeve_status rv_runner_message_send(int fd, bool wait, const rv_runner_message *message)
{
    bool is_apart = message->length > RV_RUNNER_PACKET_MAX;
    packet_head head = {.magic = MAGIC,
                        .kind = (uint16_t)message->kind,
                        .is_apart = is_apart,
                        .index = message->index,
                        .run = message->run,
                        .length = message->length};
    struct iovec parts[] = {{&head, sizeof(head)}, {(void *)message->body, message->length}};
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = is_apart || message->length == 0 ? 1 : 2};
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    int apart = -1;
    ssize_t sent;
    if (message->length > RV_RUNNER_BODY_MAX) return REEVE_ETOOBIG;
    if (is_apart) {
        apart = make_apart(message->body, message->length);
        if (apart < 0) return REEVE_ESYSTEM;
        attach(&packet, control.room, sizeof(control.room), apart);
    }
    do {
        sent = sendmsg(fd, &packet, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
    } while (sent < 0 && errno == EINTR);
    int failed = errno;
    if (apart >= 0) (void)close(apart);
    if (sent < 0) return failed == EAGAIN || failed == EWOULDBLOCK ? REEVE_ETIMEOUT : REEVE_ELOST;
    return REEVE_OK;
}

/* ---- receiving ------------------------------------------------------------------------------------------------- */

/* The descriptor that came with a packet, or -1. There is room for two, since room comes in units of a word: of several,
 * none is kept. */
static int take_attached(struct msghdr *packet)
{
    int kept = -1;
    size_t count = 0;
    for (struct cmsghdr *control = CMSG_FIRSTHDR(packet); control != NULL; control = CMSG_NXTHDR(packet, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
        const unsigned char *list = CMSG_DATA(control);
        for (size_t at = CMSG_LEN(0); at + sizeof(int) <= control->cmsg_len; at += sizeof(int)) {
            int fd;
            memcpy(&fd, list + (at - CMSG_LEN(0)), sizeof(fd));
            if (count++ == 0)
                kept = fd;
            else
                (void)close(fd);
        }
    }
    if (count <= 1) return kept;
    (void)close(kept);
    return -1;
}

/* Its content cannot change any more. */
static reeve_status read_apart(int fd, size_t length, rv_buf *into)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || about.st_size < 0 || (uint64_t)about.st_size != length) return REEVE_EPROTO;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & SEALS) != SEALS) return REEVE_EPROTO;
    rv_buf_clear(into);
    if (!rv_buf_reserve(into, length)) return REEVE_ENOMEM;
    while (into->length < length) {
        ssize_t got = pread(fd, into->data + into->length, length - into->length, (off_t)into->length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return REEVE_EPROTO;
        into->length += (size_t)got;
    }
    into->data[length] = '\0';
    return REEVE_OK;
}

static reeve_status check_head(const packet_head *head, size_t received)
{
    if (received < sizeof(*head) || head->magic != MAGIC) return REEVE_EPROTO;
    if (head->kind == 0 || head->kind >= RV_RUNNER_KINDS || head->is_apart > 1) return REEVE_EPROTO;
    if (head->length > RV_RUNNER_BODY_MAX) return REEVE_EPROTO;
    return received - sizeof(*head) == (head->is_apart ? 0 : head->length) ? REEVE_OK : REEVE_EPROTO;
}

reeve_status rv_runner_message_receive(int fd, rv_buf *into, bool wait, rv_runner_message *ret)
{
    packet_head head = {0};
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    ssize_t got;
    rv_buf_clear(into);
    if (!rv_buf_reserve(into, RV_RUNNER_PACKET_MAX)) return REEVE_ENOMEM;
    struct iovec parts[] = {{&head, sizeof(head)}, {into->data, RV_RUNNER_PACKET_MAX}};
    struct msghdr packet = {
        .msg_iov = parts, .msg_iovlen = 2, .msg_control = control.room, .msg_controllen = sizeof(control.room)};
    do {
        got = recvmsg(fd, &packet, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    } while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return REEVE_ETIMEOUT;
    if (got <= 0) return REEVE_ELOST;
    int apart = take_attached(&packet);
    reeve_status status = packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? REEVE_EPROTO : check_head(&head, (size_t)got);
    if (status == REEVE_OK && (apart >= 0) != (head.is_apart == 1)) status = REEVE_EPROTO;
    if (status == REEVE_OK && apart >= 0) status = read_apart(apart, head.length, into);
    if (apart >= 0) (void)close(apart);
    if (status != REEVE_OK) return status;
    if (!head.is_apart) into->length = head.length;
    into->data[into->length] = '\0';
    *ret = (rv_runner_message){.kind = (rv_runner_kind)head.kind,
                               .index = head.index,
                               .run = head.run,
                               .body = into->data,
                               .length = into->length};
    return REEVE_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------------------------- */

void rv_runner_message_put_number(rv_buf *out, int64_t number)
{
    rv_buf_add(out, &number, sizeof(number));
}

void rv_runner_message_put_bytes(rv_buf *out, const void *data, size_t length)
{
    rv_runner_message_put_number(out, (int64_t)length);
    if (length > 0) rv_buf_add(out, data, length);
    rv_buf_addc(out, '\0');
}

void rv_runner_message_put_text(rv_buf *out, const char *text)
{
    rv_runner_message_put_bytes(out, text, strlen(text));
}

rv_runner_reader rv_runner_message_read(const rv_runner_message *message)
{
    return (rv_runner_reader){.at = message->body, .end = message->body + message->length};
}

int64_t rv_runner_message_get_number(rv_runner_reader *in, int64_t min, int64_t max)
{
    int64_t number = min;
    if (in->failed || (size_t)(in->end - in->at) < sizeof(number)) {
        in->failed = true;
        return min;
    }
    memcpy(&number, in->at, sizeof(number));
    in->at += sizeof(number);
    in->failed = number < min || number > max;
    return in->failed ? min : number;
}

reeve_bytes rv_runner_message_get_bytes(rv_runner_reader *in, size_t max)
{
    size_t length = (size_t)rv_runner_message_get_number(in, 0, (int64_t)max);
    if (!in->failed && (length >= (size_t)(in->end - in->at) || in->at[length] != '\0')) in->failed = true;
    if (in->failed) return (reeve_bytes){"", 0};
    reeve_bytes bytes = {in->at, length};
    in->at += length + 1;
    return bytes;
}

const char *rv_runner_message_get_text(rv_runner_reader *in, size_t max)
{
    reeve_bytes text = rv_runner_message_get_bytes(in, max);
    if (!in->failed && strlen(text.data) != text.length) in->failed = true;
    return in->failed ? "" : text.data;
}

bool rv_runner_message_is_read(const rv_runner_reader *in)
{
    return !in->failed && in->at == in->end;
}
