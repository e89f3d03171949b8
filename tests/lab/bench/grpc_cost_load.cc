// SPDX-License-Identifier: Apache-2.0
//
// Clients for grpc_cost.py of a server of grpc_cost_server, each over a TLS connection of its own; they do not parse
// what they read.
//   grpc_cost_load calls   PORT FOLDER --clients N --seconds S
//   grpc_cost_load streams PORT FOLDER --clients N
// Prints "ready" when each client has had an answer. Then each line of stdin has an answer in one line. `calls`: each
// client calls GetSnapshot again and again for so long; "CALLS MEDIAN-US P99-US". `streams`: each client subscribes;
// "UPDATES BYTES" so far. Ends with stdin.
// FOLDER has the server's certificates; clients are its tenants in turn.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/client_callback.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "proto/base/errors.h"
#include "proto/base/file.h"
#include "proto/base/steady_time.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::bench {
namespace {

struct Options {
  std::string what, folder;
  int port = 0;
  size_t clients = 8;
  size_t tenants = 10;
  double seconds = 1;
};

// A connection that no other client shares.
std::shared_ptr<grpc::Channel> Connect(const Options& options, size_t client) {
  const std::string file = absl::StrCat(options.folder, "/t", client % options.tenants);
  const grpc::SslCredentialsOptions tls{.pem_root_certs = *ReadFile(options.folder + "/ca.pem"),
                                        .pem_private_key = *ReadFile(file + ".key"),
                                        .pem_cert_chain = *ReadFile(file + ".pem")};
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", options.port), grpc::SslCredentials(tls), arguments);
}

grpc::ByteBuffer BytesOf(const google::protobuf::Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

// Calls GetSnapshot until `until`, one call at a time.
class Caller {
 public:
  Caller(const std::shared_ptr<grpc::Channel>& channel, absl::BlockingCounter& over) : stub_(channel), over_(over) {}

  void Start(absl::Duration until) {
    until_ = until;
    Call();
  }
  const std::vector<double>& times_us() const { return times_us_; }
  bool has_failed() const { return has_failed_; }

 private:
  void Call() {
    context_ = std::make_unique<grpc::ClientContext>();
    started_ = SteadyNow();
    stub_.UnaryCall(context_.get(), "/sideband.v1.Telemetry/GetSnapshot", {}, &request_, &response_,
                    [this](const grpc::Status& status) { OnDone(status); });
  }
  void OnDone(const grpc::Status& status) {
    const absl::Duration now = SteadyNow();
    has_failed_ = has_failed_ || !status.ok();
    times_us_.push_back(absl::ToDoubleMicroseconds(now - started_));
    response_.Clear();
    if (has_failed_ || now >= until_) return over_.DecrementCount(), void();
    Call();
  }

  grpc::GenericStub stub_;
  absl::BlockingCounter& over_;
  absl::Duration until_, started_;
  std::unique_ptr<grpc::ClientContext> context_;
  const grpc::ByteBuffer request_ = BytesOf(v1::GetSnapshotRequest());
  grpc::ByteBuffer response_;
  std::vector<double> times_us_;
  bool has_failed_ = false;
};

double Quantile(std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

// All clients for so long; false where a call failed.
bool CallFor(std::vector<std::shared_ptr<grpc::Channel>>& channels, double seconds, std::vector<double>& times_us) {
  absl::BlockingCounter over(static_cast<int>(channels.size()));
  std::vector<std::unique_ptr<Caller>> callers;
  for (const auto& channel : channels) callers.push_back(std::make_unique<Caller>(channel, over));
  const absl::Duration until = SteadyNow() + absl::Seconds(seconds);
  for (const auto& caller : callers) caller->Start(until);
  over.Wait();
  bool is_good = true;
  for (const auto& caller : callers) {
    is_good = is_good && !caller->has_failed();
    times_us.insert(times_us.end(), caller->times_us().begin(), caller->times_us().end());
  }
  return is_good;
}

absl::Status RunCalls(const Options& options) {
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (size_t i = 0; i < options.clients; ++i) channels.push_back(Connect(options, i));
  std::vector<double> ignored;
  if (!CallFor(channels, 0.2, ignored)) return absl::UnavailableError("a call failed");
  std::puts("ready");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<double> times_us;
    if (!CallFor(channels, options.seconds, times_us)) return absl::UnavailableError("a call failed");
    std::ranges::sort(times_us);
    std::printf("%zu %.1f %.1f\n", times_us.size(), Quantile(times_us, 0.5), Quantile(times_us, 0.99));
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

struct Received {
  std::atomic<uint64_t> updates = 0, bytes = 0;
};

// Reads updates until the process ends.
class Subscriber final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Subscriber(const std::shared_ptr<grpc::Channel>& channel, absl::BlockingCounter& begun, Received& received)
      : stub_(channel), begun_(begun), received_(received) {
    v1::SubscribeRequest request;
    request.set_mode(v1::SubscribeRequest::MODE_STREAM);
    request_ = BytesOf(request);
    stub_.PrepareBidiStreamingCall(&context_, "/sideband.v1.Telemetry/Subscribe", {}, this);
    StartWriteLast(&request_, {});
    StartRead(&response_);
    StartCall();
  }
  void OnReadDone(bool is_good) override {
    if (!is_good) return;
    received_.bytes += response_.Length();
    if (received_.updates++, !std::exchange(has_begun_, true)) begun_.DecrementCount();
    StartRead(&response_);
  }
  void Cancel() { context_.TryCancel(); }
  void OnDone(const grpc::Status&) override { over_.Notify(); }
  void Wait() { over_.WaitForNotification(); }

 private:
  grpc::GenericStub stub_;
  absl::BlockingCounter& begun_;
  Received& received_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_, response_;
  bool has_begun_ = false;
  absl::Notification over_;
};

absl::Status RunStreams(const Options& options) {
  Received received;
  absl::BlockingCounter begun(static_cast<int>(options.clients));
  std::vector<std::unique_ptr<Subscriber>> subscribers;
  for (size_t i = 0; i < options.clients; ++i) {
    subscribers.push_back(std::make_unique<Subscriber>(Connect(options, i), begun, received));
  }
  begun.Wait();
  std::puts("ready");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::printf("%llu %llu\n", static_cast<unsigned long long>(received.updates.load()),
                static_cast<unsigned long long>(received.bytes.load()));
    std::fflush(stdout);
  }
  for (const auto& subscriber : subscribers) subscriber->Cancel();
  for (const auto& subscriber : subscribers) subscriber->Wait();
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::bench

int main(int argc, char** argv) {
  CLI::App app("gRPC clients that measure a server.");
  sideband::bench::Options options;
  app.add_option("what", options.what)->required()->check(CLI::IsMember({"calls", "streams"}));
  app.add_option("port", options.port)->required();
  app.add_option("folder", options.folder)->required();
  app.add_option("--clients", options.clients)->capture_default_str();
  app.add_option("--tenants", options.tenants)->capture_default_str();
  app.add_option("--seconds", options.seconds, "of one measurement of calls")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const absl::Status status =
      options.what == "calls" ? sideband::bench::RunCalls(options) : sideband::bench::RunStreams(options);
  return sideband::ReportAndExitCode("grpc_cost_load", status);
}
