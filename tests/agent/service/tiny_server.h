// A server that does to each connection whatever a test wants, and remembers what it was sent.
#ifndef ASSAY_TESTS_AGENT_SERVICE_TINY_SERVER_H_
#define ASSAY_TESTS_AGENT_SERVICE_TINY_SERVER_H_

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace assay::agent::service {

class TinyServer {
 public:
  // One connection, after its request head was read.
  class Connection {
   public:
    Connection(int fd, int stop) : fd_(fd), stop_(stop) {}
    void Send(const std::string& text) const {
      size_t sent = 0;
      while (sent < text.size()) {
        ssize_t n = send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) return;
        sent += static_cast<size_t>(n);
      }
    }
    // Until the client goes away or the server is stopped.
    void Stall() const {
      pollfd fds[2] = {{fd_, POLLIN, 0}, {stop_, POLLIN, 0}};
      char byte;
      while (poll(fds, 2, -1) >= 0) {
        if (fds[1].revents != 0 || recv(fd_, &byte, 1, 0) <= 0) return;
      }
    }
    // Close with RST.
    void Reset() const {
      linger hard{1, 0};
      setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }

   private:
    int fd_, stop_;
  };

  explicit TinyServer(std::function<void(const Connection&)> act, bool v6 = false)
      : act_(std::move(act)) {
    listener_ = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    stop_ = eventfd(0, EFD_CLOEXEC);
    sockaddr_in6 a6{};
    a6.sin6_family = AF_INET6;
    a6.sin6_addr = in6addr_loopback;
    sockaddr_in a4{};
    a4.sin_family = AF_INET;
    a4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* address = v6 ? reinterpret_cast<sockaddr*>(&a6) : reinterpret_cast<sockaddr*>(&a4);
    socklen_t length = v6 ? sizeof a6 : sizeof a4;
    if (bind(listener_, address, length) != 0 || listen(listener_, 64) != 0) abort();
    getsockname(listener_, address, &length);
    port_ = ntohs(v6 ? a6.sin6_port : a4.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~TinyServer() {
    eventfd_write(stop_, 1);
    thread_.join();
    close(listener_);
    close(stop_);
  }
  TinyServer(const TinyServer&) = delete;
  TinyServer& operator=(const TinyServer&) = delete;

  uint16_t port() const { return port_; }
  std::vector<std::string> requests() const {
    std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void Serve() {
    while (true) {
      pollfd fds[2] = {{listener_, POLLIN, 0}, {stop_, POLLIN, 0}};
      if (poll(fds, 2, -1) < 0 || fds[1].revents != 0) return;
      int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      std::string head;
      char buffer[4096];
      while (head.find("\r\n\r\n") == std::string::npos) {
        pollfd wait[2] = {{fd, POLLIN, 0}, {stop_, POLLIN, 0}};
        if (poll(wait, 2, -1) < 0 || wait[1].revents != 0) break;
        ssize_t n = recv(fd, buffer, sizeof buffer, 0);
        if (n <= 0) break;
        head.append(buffer, static_cast<size_t>(n));
        if (head[0] == 0x16) break;  // a TLS hello: no HTTP will come
      }
      {
        std::lock_guard lock(mutex_);
        requests_.push_back(head);
      }
      act_(Connection(fd, stop_));
      close(fd);
    }
  }

  std::function<void(const Connection&)> act_;
  int listener_ = -1, stop_ = -1;
  uint16_t port_ = 0;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
};

}  // namespace assay::agent::service

#endif  // ASSAY_TESTS_AGENT_SERVICE_TINY_SERVER_H_
