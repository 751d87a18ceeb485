// Gets a new certificate before the present one expires.
#ifndef ASSAY_AGENT_SESSION_RENEWAL_H_
#define ASSAY_AGENT_SESSION_RENEWAL_H_

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/session/mailbox.h"
#include "agent/session/moment.h"
#include "common/tls/identity.h"

namespace assay::session {

// When two thirds of the time from `obtained` to the end of validity have passed. (A certificate's
// own start is set back by its issuer, so it does not say when it was obtained.) `jitter` in [0, 1)
// brings it forward by up to a twentieth of that time.
absl::Time RenewAt(const tls::CertificateInfo& certificate, absl::Time obtained, double jitter);

// Not thread-safe; everything happens in the thread that reads the mailbox.
class Renewal {
 public:
  struct Options {
    std::string identity_path;
    // When the identity in the file was obtained, by this host's clock.
    absl::Time obtained;
    std::function<double()> random;  // uniform in [0, 1)
    // A new identity is in the file.
    std::function<void()> renewed;
  };

  Renewal(tls::Identity identity, Options options, std::shared_ptr<Mailbox> mailbox);
  Renewal(const Renewal&) = delete;
  Renewal& operator=(const Renewal&) = delete;

  const tls::Identity& identity() const { return identity_; }

  // Renews by `channel`, on which a session is open, if it is time to. `coordinator_time`: the
  // coordinator's clock now, as far as it is known, since that is what certificates are judged by.
  void Tick(const std::shared_ptr<grpc::Channel>& channel, absl::Time coordinator_time,
            const Moment& now);
  // Ends a call that is under way; until the mailbox has brought its end, busy() is true and this
  // object must live.
  void Cancel();
  bool busy() const { return call_ != nullptr; }
  // Steady clock: when to call Tick() next.
  absl::Duration NextTimer() const { return check_at_; }

 private:
  struct Call;
  void Begin(const std::shared_ptr<grpc::Channel>& channel, absl::Time coordinator_time);
  void OnAnswer(const Call& call, const absl::Status& status);
  void Finished(const absl::Status& taken);
  absl::Status Take(const Call& call);

  tls::Identity identity_;
  const Options options_;
  const std::shared_ptr<Mailbox> mailbox_;
  absl::Time not_after_;
  bool scheduled_ = false;
  absl::Time renew_at_;  // coordinator's clock
  absl::Duration check_at_ = absl::ZeroDuration();
  std::shared_ptr<Call> call_;  // under way
};

}  // namespace assay::session

#endif  // ASSAY_AGENT_SESSION_RENEWAL_H_
