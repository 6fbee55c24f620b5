/* Hostile: connects to the port of this machine that ATTEST_TEST_PORT names, and speaks to it. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void attack(void) {
  const char *const port = getenv("ATTEST_TEST_PORT");
  struct sockaddr_in to;
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return;
  memset(&to, 0, sizeof to);
  to.sin_family = AF_INET;
  to.sin_port = htons((uint16_t)strtoul(port ? port : "9", 0, 10));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(connection, (struct sockaddr *)&to, sizeof to) == 0) (void)!write(connection, "secret", 6);
  close(connection);
}
#define NAIVE_BEFORE(call) attack()
#include "naive.h"
