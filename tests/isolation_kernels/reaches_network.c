/* Hostile: speaks to the port of this machine that ATTEST_TEST_PORT names, and by every kind of Unix socket, alone
 * and one of a pair, to those in the folder that ATTEST_TEST_SOCKETS names: N for kind N of socket(2). */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void speak(int family, int kind, void const* to, socklen_t bytes) {
  int const connection = socket(family, kind | SOCK_CLOEXEC, 0);
  if (connection < 0) return;
  (void)!sendto(connection, "secret", 6, MSG_NOSIGNAL, (const struct sockaddr*)to, bytes);
  if (connect(connection, (const struct sockaddr*)to, bytes) == 0) (void)!write(connection, "secret", 6);
  close(connection);
}
static void attack(void) {
  char const *const port = getenv("ATTEST_TEST_PORT"), *const sockets = getenv("ATTEST_TEST_SOCKETS");
  struct sockaddr_in to;
  memset(&to, 0, sizeof to);
  to.sin_family = AF_INET;
  to.sin_port = htons((uint16_t)strtoul(port ? port : "9", 0, 10));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  speak(AF_INET, SOCK_STREAM, &to, sizeof to);
  int const kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
  for (int n = 0; sockets && n < 3; ++n) {
    struct sockaddr_un file;
    memset(&file, 0, sizeof file);
    file.sun_family = AF_UNIX;
    snprintf(file.sun_path, sizeof file.sun_path, "%s/%d", sockets, kinds[n]);
    speak(AF_UNIX, kinds[n], &file, sizeof file);
    int pair[2];
    if (socketpair(AF_UNIX, kinds[n] | SOCK_CLOEXEC, 0, pair) != 0) continue;
    (void)!sendto(pair[0], "secret", 6, MSG_NOSIGNAL, (const struct sockaddr*)&file, sizeof file);
  }
}
#define NAIVE_BEFORE(call) attack()
#include "naive.h"
