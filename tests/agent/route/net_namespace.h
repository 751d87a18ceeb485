// A network namespace of the test's own: nothing in it reaches the host's network, and it goes when
// the object and the threads started inside it go.
#ifndef ASSAY_TESTS_AGENT_ROUTE_NET_NAMESPACE_H_
#define ASSAY_TESTS_AGENT_ROUTE_NET_NAMESPACE_H_

#include <string>

namespace assay::testing {

// The calling thread lives in a fresh namespace, loopback up, until this is destroyed. Threads that
// it starts meanwhile are in there too.
class NetNamespace {
 public:
  NetNamespace();
  ~NetNamespace();
  NetNamespace(const NetNamespace&) = delete;
  NetNamespace& operator=(const NetNamespace&) = delete;

 private:
  int outside_;
};

// Runs a shell command in the calling thread's namespace; fails the test if it fails.
void Shell(const std::string& command);
// Its standard output.
std::string ShellOutput(const std::string& command);

}  // namespace assay::testing

#endif  // ASSAY_TESTS_AGENT_ROUTE_NET_NAMESPACE_H_
