/* The channel to the judge is descriptor 3: forged, damaged, closed. */
#include "hostile.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { channel = 3 };
struct reply { /* reply_message of audit/isolation/runner/protocol.hpp */
  uint32_t magic;
  int32_t status;
  uint64_t sequence;
  double seconds;
  uint32_t environment_changed, descriptors_changed, outputs_changed, padding;
};
static uint32_t const reply_magic = 0x594C5052;

/* Answers for the next thousand calls before they are asked. */
HOSTILE_ONCE(answers_ahead) {
  UNUSED;
  for (uint64_t n = 0; n < 1000; ++n) {
    const struct reply forged = {reply_magic, 0, n, 0, 0, 0, 0, 0};
    if (send(channel, &forged, sizeof forged, MSG_DONTWAIT) < 0) break;
  }
}
HOSTILE(answers_twice) {
  UNUSED;
  static uint64_t sequence;
  const struct reply forged = {reply_magic, 0, ++sequence, 0.0 / 0.0, 0, 0, 0, 0};
  send(channel, &forged, sizeof forged, 0);
}
HOSTILE(answers_too_short) {
  UNUSED;
  send(channel, &reply_magic, sizeof reply_magic, 0);
}
HOSTILE(answers_too_long) {
  UNUSED;
  static char much[65536];
  memcpy(much, &reply_magic, sizeof reply_magic);
  send(channel, much, sizeof much, 0);
}
HOSTILE(answers_nothing) {
  UNUSED;
  send(channel, "", 0, 0);
}
HOSTILE(fills_the_channel) {
  UNUSED;
  static char much[4096];
  while (send(channel, much, sizeof much, MSG_DONTWAIT) >= 0) continue;
}
HOSTILE(takes_the_questions) {
  UNUSED;
  static char question[1 << 17];
  while (recv(channel, question, sizeof question, MSG_DONTWAIT) > 0) continue;
}
HOSTILE(shuts_the_channel) {
  UNUSED;
  shutdown(channel, SHUT_RDWR);
}
HOSTILE(closes_the_channel) {
  UNUSED;
  close(channel);
}
HOSTILE(closes_all) {
  UNUSED;
  for (int number = 0; number < 64; ++number) close(number);
}
static unsigned sent;
static void* flood(void* nothing) {
  const struct reply forged = {reply_magic, 0, 7, 1e308, 1, 1, 1, 0};
  for (;;)
    if (send(channel, &forged, sizeof forged, 0) > 0) __atomic_store_n(&sent, 1, __ATOMIC_SEQ_CST);
  return nothing;
}
/* The first call does not end before one of them is there, however busy the machine is. */
HOSTILE_ONCE(floods_the_channel) {
  UNUSED;
  pthread_t id;
  pthread_create(&id, 0, flood, 0);
  while (__atomic_load_n(&sent, __ATOMIC_SEQ_CST) == 0) sched_yield();
}
/* Passes its own descriptors to the judge, until that has no more. */
HOSTILE(passes_descriptors) {
  UNUSED;
  char byte = 0, control[CMSG_SPACE(sizeof(int))];
  struct iovec one = {&byte, 1};
  struct msghdr message;
  memset(&message, 0, sizeof message), memset(control, 0, sizeof control);
  message.msg_iov = &one, message.msg_iovlen = 1, message.msg_control = control,
  message.msg_controllen = sizeof control;
  struct cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET, head->cmsg_type = SCM_RIGHTS, head->cmsg_len = CMSG_LEN(sizeof(int));
  memset(CMSG_DATA(head), 0, sizeof(int));
  sendmsg(channel, &message, 0);
}
