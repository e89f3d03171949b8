// SPDX-License-Identifier: Apache-2.0
//
// Keeps a model up to date from the daemon, on a thread of its own.
//   SIDEBAND_ASSIGN_OR_RETURN(const auto feeds, Feeds::Start(context, {}, [&] { wake.Set(); }));
//   rows = BuildRows(feeds->Read(), options, now);
#ifndef SIDEBAND_CLIENT_TOP_FEED_H_
#define SIDEBAND_CLIENT_TOP_FEED_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/command.h"
#include "client/cli/hosts.h"
#include "client/cli/stream.h"
#include "client/lib/telemetry_client.h"
#include "client/top/model.h"
#include "client/top/rows.h"

namespace sideband::client::top {

struct FeedOptions {
  ModelOptions model;
  std::string event;  // that the devices must have; empty: any
};

// Thread-safe. The context must outlive it.
class Feed {
 public:
  // `client` is of context.Connect(). Lists the devices first: an error of the connection or of the caller's rights is
  // returned, and the daemon's NOT_FOUND for a device or an event that the caller does not see. `on_change` is called
  // after each change of the model, by Start() and StartAbsent() too, and when the feed has ended. It must be
  // thread-safe.
  static absl::StatusOr<std::unique_ptr<Feed>> Start(CommandContext& context, std::unique_ptr<TelemetryClient> client,
                                                     FeedOptions options, std::function<void()> on_change);
  // A feed of a daemon that cannot be asked yet, for the reason `why`: it is tried again as after a lost connection.
  static std::unique_ptr<Feed> StartAbsent(CommandContext& context, FeedOptions options,
                                           std::function<void()> on_change, const absl::Status& why);
  // Cancels the context's cancellation, so that the thread ends. One that Start() has not returned cancels nothing.
  ~Feed();

  void Read(const std::function<void(const Model&)>& reader) const ABSL_LOCKS_EXCLUDED(mu_);
  // Why the feed has ended: an error that reconnecting does not mend. OK while it runs, and after the cancellation.
  absl::Status ended() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Feed(CommandContext& context, FeedOptions options, std::unique_ptr<TelemetryClient> client,
       std::function<void()> on_change);

  absl::Status List() ABSL_LOCKS_EXCLUDED(mu_);
  void ReadSensors() ABSL_LOCKS_EXCLUDED(mu_);
  bool Tick();
  absl::Status Stream();
  // `ended` is why there is no client, if there is none.
  absl::Status Run(absl::Status ended);
  void Begin(const absl::Status& first);
  void OnResponse(const v1::SubscribeResponse& response);
  void Change(const std::function<void(Model&)>& change) ABSL_LOCKS_EXCLUDED(mu_);

  CommandContext& context_;
  const FeedOptions options_;
  const std::function<void()> on_change_;
  std::unique_ptr<TelemetryClient> client_;  // of the feed's thread, once it runs
  Reconnection reconnection_;                // of the feed's thread
  int ticks_ = 0;                            // the same

  mutable absl::Mutex mu_;
  Model model_ ABSL_GUARDED_BY(mu_);
  absl::Status ended_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // the last member: it uses the others
};

// A feed of each daemon. One of several that cannot be asked is noted, and does not hide the others; one that is absent
// while another answers is tried again. Thread-safe. The context must outlive it.
class Feeds {
 public:
  static absl::StatusOr<std::unique_ptr<Feeds>> Start(CommandContext& context, const FeedOptions& options,
                                                      const std::function<void()>& on_change);

  // The models of the daemons that could be asked. One that has ended has the reason as its connection, which names the
  // host if there are several.
  std::vector<HostModel> Read() const;
  // Why the last of them has ended; OK while one runs, and after the cancellation.
  absl::Status ended() const;
  // The command's result if it has no other error. To be called once, at the end: one of several that has ended is
  // noted.
  absl::Status Result();

 private:
  struct Entry {
    Host& host;
    std::unique_ptr<Feed> feed;
  };

  Feeds(CommandContext& context, std::vector<Host> hosts) : errors_(context), hosts_(std::move(hosts)) {}

  HostErrors errors_;
  std::vector<Host> hosts_;  // the feeds use their contexts
  std::vector<Entry> feeds_;
};

}  // namespace sideband::client::top

#endif  // SIDEBAND_CLIENT_TOP_FEED_H_
