#include "agent/command/signal_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace assay::command {
namespace {

TEST(SignalWatchTest, ASignalBecomesAFlagAndTheMaskIsRestored) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    SignalWatch watch;
    EXPECT_FALSE(watch.stopped());
    kill(getpid(), SIGTERM);
    while (!watch.stopped()) usleep(1000);
  }
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
}

TEST(SignalWatchTest, AnIgnoredSignalStaysIgnored) {
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &before);
  {
    SignalWatch watch;
    kill(getpid(), SIGINT);
    kill(getpid(), SIGTERM);  // arrives after it
    while (!watch.stopped()) usleep(1000);
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGINT), 0);
  }
  sigaction(SIGINT, &before, nullptr);
}

}  // namespace
}  // namespace assay::command
