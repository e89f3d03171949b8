// SPDX-License-Identifier: Apache-2.0
#include "client/cli/get_command.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/history_render.h"
#include "client/cli/json.h"
#include "client/cli/options.h"
#include "client/cli/render.h"
#include "client/cli/when_option.h"
#include "client/lib/rpc_status.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr absl::Duration kStepMin = absl::Milliseconds(1);
constexpr absl::Duration kStepMax = absl::Hours(24 * 366);

// As CLI11 wants it: what is wrong, or nothing.
std::string CheckStep(const std::string& text) {
  absl::Duration step;
  const bool good = absl::ParseDuration(text, &step) && step >= kStepMin && step <= kStepMax;
  return good ? "" : absl::StrCat("'", text, "' is no duration from 1ms to 8784h");
}

void SetTime(absl::Time from, google::protobuf::Timestamp& to) {
  const int64_t seconds = absl::ToUnixSeconds(from);
  to.set_seconds(seconds);
  to.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(from - absl::FromUnixSeconds(seconds))));
}

class GetCommand final : public Command {
 public:
  std::string name() const override { return "get"; }
  std::string description() const override { return "Print the newest counters, or those of the past"; }

  void Define(CLI::App& app) override {
    filter_.AddTo(app);
    CLI::Option* const since = since_.AddTo(app, "--since", "The past from then on; a duration is so long ago");
    until_.AddTo(app, "--until", "Up to when; default: now")->needs(since);
    app.add_option("--step", step_, "One point, the first, of each so long; default: all that the daemon has")
        ->check(CheckStep)
        ->type_name("DURATION")
        ->needs(since);
    format_.AddTo(app);
    app.footer(
        "Rates of the past are between one point and the next.\n"
        "Examples:\n"
        "  sideband get --vm vm1\n"
        "  sideband get --device gpu0 --event sm_active_cycles --event dram_read_cycles --format json\n"
        "  sideband get --vm vm1 --event sm_active_cycles --since 5m --step 10s");
  }

  absl::Status Run(CommandContext& context) override {
    SIDEBAND_ASSIGN_OR_RETURN(const auto client, context.Connect());
    if (!since_.text.empty()) return RunHistory(*client, context);
    v1::GetSnapshotRequest request;
    *request.mutable_filter() = filter_.ToFilter();
    SIDEBAND_ASSIGN_OR_RETURN(const auto response, client->GetSnapshot(request));
    return context.out().Write(format_.json() ? ToJson(response) : SnapshotTables(response));
  }

 private:
  v1::GetHistoryRequest HistoryRequest(absl::Time now) const {
    v1::GetHistoryRequest request;
    *request.mutable_filter() = filter_.ToFilter();
    if (const auto since = since_.At(now)) SetTime(*since, *request.mutable_since());
    if (const auto until = until_.At(now)) SetTime(*until, *request.mutable_until());
    absl::Duration step;
    if (absl::ParseDuration(step_, &step)) {
      request.mutable_step()->set_seconds(absl::IDivDuration(step, absl::Seconds(1), &step));
      request.mutable_step()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(step)));
    }
    return request;
  }

  absl::Status RunHistory(TelemetryClient& client, CommandContext& context) const {
    const absl::Time now = context.Now();
    const auto since = since_.At(now), until = until_.At(now);
    if (until && *until < *since) return absl::InvalidArgumentError("--until is before --since");
    const auto response = client.GetHistory(HistoryRequest(now));
    if (absl::IsUnimplemented(response.status())) {
      return MarkRemote(absl::UnimplementedError("the daemon has no history: it is older than this program"));
    }
    SIDEBAND_RETURN_IF_ERROR(response.status());
    return context.out().Write(format_.json() ? HistoryJson(*response) : HistoryTables(*response));
  }

  FilterOptions filter_;
  WhenOption since_;
  WhenOption until_;
  std::string step_;
  FormatOption format_;
};

}  // namespace

std::unique_ptr<Command> NewGetCommand() { return std::make_unique<GetCommand>(); }

}  // namespace sideband::client
