#include "tests/agent/route/net_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "gtest/gtest.h"

namespace assay::testing {

NetNamespace::NetNamespace() : outside_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
  EXPECT_GE(outside_, 0);
  EXPECT_EQ(unshare(CLONE_NEWNET), 0) << strerror(errno) << " (these tests run as root)";
  Shell("ip link set lo up");
}

NetNamespace::~NetNamespace() {
  EXPECT_EQ(setns(outside_, CLONE_NEWNET), 0);
  close(outside_);
}

void Shell(const std::string& command) {
  EXPECT_EQ(system((command + " 1>&2").c_str()), 0) << command;
}

std::string ShellOutput(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string output;
  char buffer[4096];
  while (size_t size = fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, size);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

}  // namespace assay::testing
