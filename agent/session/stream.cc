#include "agent/session/stream.h"

#include <utility>

#include "common/rpc/status.h"

namespace assay::session {

Stream::Stream(const std::shared_ptr<grpc::Channel>& channel, std::shared_ptr<Mailbox> mailbox,
               Receiver receiver)
    : mailbox_(std::move(mailbox)),
      receiver_(std::move(receiver)),
      stub_(v1::AgentService::NewStub(channel)) {}

std::shared_ptr<Stream> Stream::Open(const std::shared_ptr<grpc::Channel>& channel,
                                     std::shared_ptr<Mailbox> mailbox, Receiver receiver) {
  std::shared_ptr<Stream> stream(new Stream(channel, std::move(mailbox), std::move(receiver)));
  stream->self_ = stream;
  stream->stub_->async()->Session(&stream->context_, stream.get());
  // Operations begin outside reactions: without the hold OnDone could come in between.
  stream->AddHold();
  stream->StartRead(&stream->incoming_);
  stream->StartCall();
  return stream;
}

void Stream::OnReadDone(bool ok) {
  mailbox_->Post([this, self = self_, ok] {
    if (ok) return receiver_.message(incoming_);
    over_ = true;
    RemoveHold();
  });
}

void Stream::OnWriteDone(bool ok) {
  // After a failed write nothing is told: the read fails too, and that is the end.
  if (!ok) return;
  mailbox_->Post([this, self = self_] {
    writing_ = false;
    if (closing_) HalfClose();
    receiver_.written();
  });
}

void Stream::OnDone(const grpc::Status& status) {
  // The letter takes the last reference with it: a channel that is destroyed in one of gRPC's
  // threads joins that very thread (1.51).
  std::shared_ptr<Mailbox> mailbox = mailbox_;
  mailbox->Post(
      [self = std::move(self_), ended = rpc::FromGrpc(status)] { self->receiver_.ended(ended); });
}

void Stream::Write(v1::AgentMessage message) {
  if (over_ || closing_) return;
  outgoing_ = std::move(message);
  writing_ = true;
  StartWrite(&outgoing_);
}

void Stream::ReadNext() {
  if (over_) return;
  incoming_.Clear();
  StartRead(&incoming_);
}

void Stream::CloseWrites() {
  closing_ = true;
  if (!writing_) HalfClose();
}

void Stream::HalfClose() {
  if (over_ || closed_) return;
  closed_ = true;
  StartWritesDone();
}

void Stream::Abort() { context_.TryCancel(); }

}  // namespace assay::session
