// SPDX-License-Identifier: Apache-2.0
//
// Reads the GPUs of one BMC: decides what is asked next and what an answer means. It does no input or output: whoever
// has the connection asks, and hands the answers over. README.md has the order of requests.
//   BmcReader reader({.requests_per_minute = 30, .interval = absl::Seconds(5)}, std::move(events), RandomShare);
//   while (const auto request = reader.Next(at)) reader.Take(Ask(*request), at);
//   for (const std::string& gpu : reader.gpus()) Publish(gpu, reader.Reading(gpu, at));
//   WaitUntil(reader.NextTime(at.steady));
//
//   RequestBudget budget(30);
//   if (budget.NextTime(at.steady) <= at.steady) budget.Spend(at.steady);
//   BackOff pause(RandomShare);
//   pause.Fail(at.steady, {});            // until() is a minute later; then 2, 4, 8 and 15
#ifndef SIDEBAND_DAEMON_BMC_BMC_READER_H_
#define SIDEBAND_DAEMON_BMC_BMC_READER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/bmc/bmc_connection.h"
#include "daemon/bmc/bmc_values.h"
#include "daemon/bmc/gpu_values.h"
#include "daemon/bmc/quantities.h"
#include "daemon/bmc/xid_log.h"
#include "daemon/board/board_reading.h"

namespace sideband::daemon {

// Instants are of a steady clock. These classes are not thread-safe.

// In any minute at most so many requests.
class RequestBudget {
 public:
  explicit RequestBudget(uint32_t per_minute) : per_minute_(per_minute) {}
  // Both budgets are of one BMC: each counts what is spent of the other.
  RequestBudget(uint32_t per_minute, const RequestBudget& other) : per_minute_(per_minute), spent_(other.spent_) {}

  // The earliest instant of a request, not before `now`.
  absl::Duration NextTime(absl::Duration now);
  void Spend(absl::Duration now) { spent_->push_back(now); }

 private:
  const uint32_t per_minute_;
  const std::shared_ptr<std::deque<absl::Duration>> spent_ =
      std::make_shared<std::deque<absl::Duration>>();  // of the last minute
};

// The pause after errors: 1, 2, 4, 8 and 15 minutes, each up to a quarter longer, so that many daemons do not come
// back at once.
class BackOff {
 public:
  static constexpr absl::Duration kFirst = absl::Minutes(1);
  static constexpr absl::Duration kMost = absl::Minutes(15);

  // `random` returns a number from 0 to 1.
  explicit BackOff(std::function<double()> random) : random_(std::move(random)) {}

  // A pause of `asked`, which the BMC has asked for, or the next one.
  void Fail(absl::Duration now, std::optional<absl::Duration> asked);
  // A short pause after the first error in a row; later ones as Fail().
  void FailOnce(absl::Duration now, absl::Duration pause);
  void Succeed() { failures_ = 0; }
  // Ends the pause.
  void Reset() {
    failures_ = 0;
    until_ = -absl::InfiniteDuration();
  }
  absl::Duration until() const { return until_; }

 private:
  const std::function<double()> random_;
  int failures_ = 0;
  absl::Duration until_ = -absl::InfiniteDuration();
};

// Requests of one kind.
struct PacedKind {
  absl::Duration period;  // wanted
  size_t requests = 0;    // in each
};

// The periods that fit into 95 % of a budget; the rest is for logins and inventories. `kinds` are in the order
// of their importance. The least important one gets a longer period first, up to eight times; then all do in
// proportion.
std::vector<absl::Duration> FitPeriods(const std::vector<PacedKind>& kinds, uint32_t per_minute);

// Kinds of values that are read in one rhythm, in the order of their importance.
enum class BmcTopic : uint8_t { kEnvironment, kActivity, kProcessor, kMemory, kHealth, kLinks, kXid, kIdentity };
inline constexpr const char* kBmcTopics[] = {"environment", "activity", "processor", "memory",
                                             "health",      "links",    "xid",       "identity"};

struct BmcReaderOptions {
  uint32_t requests_per_minute = 40;
  absl::Duration interval = absl::Seconds(5);
  bool has_links = false;  // whether kLinks is read
  std::string login;       // as an error names it: "of sideband (bmc.password)"; or empty
  // No login before (a steady time): one was made shortly before the daemon started.
  absl::Duration first_login = -absl::InfiniteDuration();
  // Everything is asked for once, at once, within 120 requests a minute, and one answer that fails ends nothing; else
  // what is read each hour takes only what the rest leaves of the budget.
  bool is_probe = false;
  // The budget of the reader that had this BMC until now.
  std::optional<RequestBudget> before = {};
};

// Whether a BMC gives values, or why not.
enum class BmcState : uint8_t { kUp, kUnreachable, kRefused, kBusy, kFailing, kNoGpus };
inline constexpr const char* kBmcStates[] = {"up", "unreachable", "login_refused", "busy", "failing", "no_gpus"};

// A reader tells its work by these. Each is called within Take(), and must not call the reader.
struct BmcEvents {
  std::function<void(const std::string& line, bool is_warning)> log;  // a change, once
  std::function<void(absl::string_view code)> requested;              // "200", or "unreachable"
  std::function<void()> logged_in;
  std::function<void(BmcOmission why, size_t values)> left_out;
  std::function<void(BmcTopic topic, absl::Duration period)> period;
  std::function<void(BmcState state)> state;
};

// Used by one thread at a time.
class BmcReader {
 public:
  // `random` returns a number from 0 to 1.
  BmcReader(const BmcReaderOptions& options, BmcEvents events, std::function<double()> random);

  // The next request; nullopt if it is not time yet. Each request must be followed by Take().
  std::optional<BmcRequest> Next(const BoardTime& now);
  // The answer to the last request.
  void Take(const BmcAnswer& answer, const BoardTime& now);
  // When Next() may have a request.
  absl::Duration NextTime(absl::Duration now);
  // Ends a pause: the password or the BMC may have been mended.
  void Retry(absl::Duration now);
  // A request was made beside those of Next().
  void CountRequest(absl::Duration now) { budget_.Spend(now); }
  const RequestBudget& budget() const { return budget_; }
  // Not before this time is there another login.
  absl::Duration LoginTime() const;

  // Whether everything was asked for once.
  bool is_complete() const;

  // The GPUs that were found, by the name of their resource. They stay for the reader's life.
  std::vector<std::string> gpus() const;
  // GPUs that have new values since the last call.
  std::set<std::string> TakeChanged();
  // Never nullptr; empty if the GPU is not known, or absent.
  std::shared_ptr<const BoardReading> Reading(absl::string_view gpu, const BoardTime& now);
  // How often the fastest values of a GPU come.
  absl::Duration period() const { return PeriodOf(BmcTopic::kEnvironment); }
  // How many values a GPU has now.
  size_t CountValues(absl::string_view gpu) const;
  // "HGX_MemoryMetrics_0", or "2 resources": what a topic is read from.
  std::string SourcesOf(BmcTopic topic) const;
  // The requests of the periods in force; what is read each hour is not among them.
  double RequestsPerMinute() const;

 private:
  // The steps of an inventory, one after the other; then there are only tasks.
  enum class Step : uint8_t { kRoot, kSystems, kTray, kManager, kProcessors, kReports, kTasks };
  // A report, or a GPU's resource, that is read again and again.
  struct Task {
    BmcTopic topic;
    std::string target;
    std::string entries;  // of a log: what is asked instead; empty: nothing
    std::string gpu;      // empty: a report
    absl::Duration due;
    AnswerAges ages;
    int failures = 0;       // in a row
    int refusals = 0;       // of them, the last ones that are an answer which stays as it is
    int empty_answers = 0;  // in a row
    bool is_told = false;   // that it is missing
    bool is_cut_told = false;
    bool had_values = false;  // of GPUs
    bool is_asked = false;
  };
  struct Gpu {
    GpuValues values;
    XidLog log;
    std::string uuid;
    std::string processor;  // the resource; empty: known by reports alone
    bool is_absent = false;
  };
  using KnownGpu = std::map<std::string, Gpu>::value_type;
  // A value of an answer that has a row.
  struct Found {
    KnownGpu* gpu;
    const BmcQuantity* row;
    std::optional<uint8_t> index;
    BmcParsed parsed;
    std::optional<absl::Time> time;   // the BMC's
    std::optional<absl::Time> stamp;  // the same, where it says when the value was measured
  };
  // The yield of an answer.
  struct Harvest {
    std::optional<std::string> unit;  // that a sensor says of itself
    size_t served = 0;                // values of rows
    size_t nameless = 0;              // values that may be any member's
    size_t left_out[std::size(kBmcOmissions)] = {};
    std::vector<Found> found;

    void LeaveOut(BmcOmission why) { ++left_out[static_cast<size_t>(why)]; }
  };

  void TakeLogin(const BmcAnswer& answer, const BoardTime& now);
  void TakeStep(const BmcValues& resource, const BoardTime& now);
  void FailStep(const BoardTime& now);
  // How long to wait before the next inventory, after one that was not whole.
  absl::Duration RetryTime();
  void TakeRoot(const BmcValues& root);
  void TakeSystems();
  void TakeTray(const BmcValues& tray);
  void TakeProcessors();
  void TakeReports(const BoardTime& now);
  void TakeTask(Task& task, const BmcAnswer& answer, const BoardTime& now);
  // Whether the task is to be read on.
  absl::StatusOr<bool> ReadTask(Task& task, const BmcAnswer& answer, const BoardTime& now);
  void DropTask(const Task& task);
  static std::string NameOf(const Task& task);
  bool IsUseless(const Task& task, int answers) const;
  void ReplaceReport(const Task& task, absl::string_view why, const BoardTime& now);
  void TakeLogTask(Task& task, bool is_read_on, const BoardTime& now);
  absl::Status TakeLog(Task& task, absl::string_view body, const BoardTime& now);
  void CountXids(KnownGpu& gpu, const XidLog::Page& page, const BoardTime& now);
  // False if the report is not read any more.
  bool TakeValues(Task& task, const BmcValues& answer, const BoardTime& now);
  void FindValue(const Task& task, const BmcValue& value, Harvest& harvest);
  void TakeFound(Task& task, std::optional<absl::Time> newest, const BoardTime& now, Harvest& harvest);
  void TakeIdentity(const Task& task, const BmcValues& processor, const BoardTime& now);
  // The error of one task: it is asked again after its own pause.
  void PostponeTask(Task& task, const std::string& error, absl::Duration now);
  KnownGpu* FindGpu(const std::string& name, bool may_add);
  // Whether the answer is an error of the BMC as a whole; then the pause has begun.
  bool IsRefused(const BmcAnswer& answer, const BoardTime& now);
  bool IsSessionRefused(absl::Duration now);
  // `what`, and who has logged in.
  std::string OfLogin(absl::string_view what) const;

  std::string StepTarget() const;
  void AddTask(BmcTopic topic, std::string target, const std::string& gpu, const BoardTime& now);
  // The resources of each GPU that have a topic's values.
  void AddResources(BmcTopic topic, const BoardTime& now);
  void FitTasks();
  void SpreadIdentities(absl::Duration now);
  absl::Duration PeriodOf(BmcTopic topic) const { return periods_.at(static_cast<size_t>(topic)); }
  absl::Duration KeepOf(BmcTopic topic) const;
  size_t CountTasks(BmcTopic topic) const;
  // The kinds of requests that there are, by topic.
  std::vector<PacedKind> Kinds() const;
  // Whether a topic has answers that say what its period is.
  bool IsRead(BmcTopic topic) const;
  // When a task is to be asked; logs wait for each other.
  absl::Duration DueOf(const Task& task) const;
  Task* FirstTask(absl::Duration now) const;
  // `problem` is its line; empty: kUp.
  void SetState(BmcState state, const std::string& problem);

  const BmcReaderOptions options_;
  const BmcEvents events_;
  RequestBudget budget_;
  BackOff pause_;

  Step step_ = Step::kRoot;
  std::string sessions_, systems_, reports_;  // of the root
  std::string product_;
  std::string tray_, manager_;        // the system of the GPUs, and its manager
  std::string machine_;               // what they say that it is; empty: nothing
  bool has_prefix_ = false;           // whether names begin with HGX_
  std::vector<std::string> members_;  // of the collection that is being read
  std::string next_page_;             // of it
  int pages_ = 0;
  std::vector<std::string> processors_;  // the collections that are still to be read
  std::optional<BmcVendor> vendor_;
  absl::Duration inventory_;  // when the next one is due
  bool is_inventory_whole_ = true;
  int inventory_failures_ = 0;  // in a row
  int step_failures_ = 0;       // of this step, in a row

  bool has_session_ = false;
  bool has_old_session_ = false;  // which is to be ended
  bool was_away_ = false;         // since the last login: its session may be gone
  absl::Duration last_login_;
  std::optional<BmcRequest> asked_;
  Task* asked_task_ = nullptr;

  std::vector<std::unique_ptr<Task>> tasks_, old_tasks_;  // of this inventory and of the one before
  size_t failures_ = 0;                                   // of tasks but extras, in a row
  bool has_told_links_ = false;                           // that there are none
  std::set<std::string> useless_;                         // reports that resources are read instead of; that was told
  std::vector<absl::Duration> periods_;                   // by topic
  absl::Duration next_log_;                               // no request to a log before
  std::map<std::string, Gpu> gpus_;                       // by name, at most kGpusMax
  std::set<std::string> changed_;
  std::optional<std::string> problem_;  // as logged; empty: none
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_BMC_BMC_READER_H_
