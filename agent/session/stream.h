// One stream to the coordinator: turns gRPC's reactions into letters, and calls into operations.
//
//   one read in flight, from the start until the stream ends; the next begins when the receiver
//     says so (ReadNext)
//   one write in flight; the written message lives here until OnWriteDone
//   the end: the read fails -> RemoveHold() -> OnDone -> `ended`, once -> destroyed, in the
//     receiver's thread
#ifndef ASSAY_AGENT_SESSION_STREAM_H_
#define ASSAY_AGENT_SESSION_STREAM_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "agent/session/mailbox.h"
#include "assay/v1/agent.grpc.pb.h"

namespace assay::session {

class Stream : public grpc::ClientBidiReactor<v1::AgentMessage, v1::CoordinatorMessage> {
 public:
  // Run in the receiver's thread, from its mailbox; none comes after `ended`.
  struct Receiver {
    std::function<void(const v1::CoordinatorMessage&)> message;
    std::function<void()> written;
    std::function<void(const absl::Status&)> ended;
  };

  // Dials. Keeps itself alive until the stream has ended.
  static std::shared_ptr<Stream> Open(const std::shared_ptr<grpc::Channel>& channel,
                                      std::shared_ptr<Mailbox> mailbox, Receiver receiver);

  // From the receiver's thread only; ignored once the stream has ended.
  void Write(v1::AgentMessage message);  // when nothing is being written
  void ReadNext();                       // after `message`
  void CloseWrites();                    // after the write under way
  void Abort();

 private:
  Stream(const std::shared_ptr<grpc::Channel>& channel, std::shared_ptr<Mailbox> mailbox,
         Receiver receiver);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;
  void HalfClose();

  const std::shared_ptr<Mailbox> mailbox_;
  const Receiver receiver_;
  const std::unique_ptr<v1::AgentService::Stub> stub_;
  grpc::ClientContext context_;
  std::shared_ptr<Stream> self_;
  v1::AgentMessage outgoing_;
  v1::CoordinatorMessage incoming_;

  // Of the receiver's thread.
  bool over_ = false;  // the read has failed: no operation may begin
  bool writing_ = false;
  bool closing_ = false;  // half-close when the write is done
  bool closed_ = false;
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_STREAM_H_
