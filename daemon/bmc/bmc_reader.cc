// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/bmc_reader.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "daemon/board/board_groups.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

constexpr double kShareOfBudget = 0.95;
constexpr double kRarerMax = 8;
constexpr double kSpareMin = 1 - kShareOfBudget;
constexpr double kSpareAtOnce = 10;  // requests a minute

double PerMinute(const PacedKind& kind, absl::Duration period) {
  return static_cast<double>(kind.requests) * absl::FDivDuration(absl::Minutes(1), period);
}

constexpr size_t kGpusMax = 256;
constexpr int kPagesMax = 16;
constexpr size_t kSystemsMax = 4;
constexpr absl::Duration kSlow = absl::Seconds(30);
constexpr absl::Duration kRarePeriod = absl::Minutes(1);
constexpr absl::Duration kInventory = absl::Hours(1);
constexpr absl::Duration kLoginPause = absl::Minutes(1);
// A value is shown for three of its periods. Boards measure slow values every 30 s.
constexpr double kPeriodsKept = 3;
// The pause after an error of one report or resource; it doubles up to the most.
constexpr absl::Duration kTaskPause = absl::Minutes(1);
constexpr absl::Duration kTaskPauseMax = absl::Minutes(15);
// An inventory that has failed, or has found nothing, is made again after this.
constexpr absl::Duration kInventoryRetry = absl::Minutes(5);
// A session that is refused sooner than this after its login was not ended by its age.
constexpr absl::Duration kSessionMin = absl::Minutes(10);

constexpr char kRoot[] = "/redfish/v1/";
// One pass is no load that lasts.
constexpr uint32_t kProbeRequests = 120;
constexpr char kEnvironmentMetrics[] = "/EnvironmentMetrics";

struct ReportRow {
  const char* id;  // may have the prefix HGX_
  BmcVendor vendor;
  BmcTopic topic;
};
constexpr ReportRow kReports[] = {
    {"PlatformEnvironmentMetrics_0", BmcVendor::kNvidia, BmcTopic::kEnvironment},
    {"ProcessorGPMMetrics_0", BmcVendor::kNvidia, BmcTopic::kActivity},
    {"ProcessorMetrics_0", BmcVendor::kNvidia, BmcTopic::kProcessor},
    {"MemoryMetrics_0", BmcVendor::kNvidia, BmcTopic::kMemory},
    {"HealthMetrics_0", BmcVendor::kNvidia, BmcTopic::kHealth},
    {"ProcessorPortMetrics_0", BmcVendor::kNvidia, BmcTopic::kLinks},
    {"ProcessorPortGPMMetrics_0", BmcVendor::kNvidia, BmcTopic::kLinks},
    {"OAM_ProcessorMetrics_0", BmcVendor::kAmd, BmcTopic::kEnvironment},
    {"OAM_MemoryMetrics_0", BmcVendor::kAmd, BmcTopic::kEnvironment},
    {"PlatformSensorsMetrics_0", BmcVendor::kAmd, BmcTopic::kProcessor},
};

// Sensors of a chassis, which are read where there is no report of the environment.
constexpr const char* kSensors[] = {"TEMP_0", "TEMP_1", "Power_0", "Energy_0", "DRAM_0_Temp_0", "DRAM_0_Power_0"};

// Whether the others do not depend on what is answered to a topic.
bool IsExtra(BmcTopic topic) {
  return topic == BmcTopic::kHealth || topic == BmcTopic::kLinks || topic == BmcTopic::kXid;
}

std::string LastName(absl::string_view path) {
  path = absl::StripSuffix(path, "/");
  return std::string(path.substr(path.rfind('/') + 1));
}

bool HasPrefix(absl::string_view name) { return absl::StartsWithIgnoreCase(name, "HGX_"); }

// The name becomes a part of lines and labels.
bool IsPlainName(absl::string_view name) {
  constexpr size_t kNameMax = 64;
  return name.size() <= kNameMax &&
         std::ranges::all_of(name, [](char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; });
}

std::string CodeText(int code) { return absl::StrCat("HTTP status ", code); }

// The label of a metric, of which there are few.
std::string CodeLabel(int code) {
  constexpr int kCodes[] = {200, 201, 204, 301, 302, 307, 308, 400, 401, 403,
                            404, 405, 410, 429, 500, 501, 502, 503, 504};
  return std::ranges::count(kCodes, code) > 0 ? absl::StrCat(code) : "other";
}

// A text of the BMC, for a line.
std::string Shown(const std::string& text) {
  constexpr size_t kTextMax = 80;
  return absl::CEscape(absl::StripAsciiWhitespace(text).substr(0, kTextMax));
}

bool IsSuccess(int code) { return code >= 200 && code < 300; }

}  // namespace

absl::Duration RequestBudget::NextTime(absl::Duration now) {
  while (!spent_->empty() && spent_->front() + absl::Minutes(1) <= now) spent_->pop_front();
  if (spent_->size() < per_minute_) return now;
  return (*spent_)[spent_->size() - per_minute_] + absl::Minutes(1);
}

void BackOff::Fail(absl::Duration now, std::optional<absl::Duration> asked) {
  const absl::Duration next = std::min(kFirst * (1 << std::min(failures_++, 4)), kMost);
  const absl::Duration pause = asked ? std::max(*asked, absl::Seconds(1)) : next;
  constexpr double kJitter = 0.25;
  until_ = now + pause + kJitter * random_() * pause;
}

void BackOff::FailOnce(absl::Duration now, absl::Duration pause) {
  Fail(now, failures_ == 0 ? std::optional(pause) : std::nullopt);
}

std::vector<absl::Duration> FitPeriods(const std::vector<PacedKind>& kinds, uint32_t per_minute) {
  const double most = kShareOfBudget * per_minute;
  std::vector<absl::Duration> periods;
  double sum = 0;
  for (const PacedKind& kind : kinds) {
    periods.push_back(kind.period);
    sum += PerMinute(kind, kind.period);
  }
  for (size_t i = kinds.size(); i-- > 0 && sum > most;) {
    const double own = PerMinute(kinds[i], periods[i]);
    if (own == 0) continue;
    const double rarer = own > sum - most ? std::min(own / (own - (sum - most)), kRarerMax) : kRarerMax;
    periods[i] *= rarer;
    sum -= own - own / rarer;
  }
  if (sum > most) {
    for (absl::Duration& period : periods) period *= sum / most;
  }
  return periods;
}

BmcReader::BmcReader(const BmcReaderOptions& options, BmcEvents events, std::function<double()> random)
    : options_(options),
      events_(std::move(events)),
      budget_(options.is_probe ? kProbeRequests : options.requests_per_minute,
              options.before ? *options.before : RequestBudget(0)),
      pause_(std::move(random)),
      last_login_(-absl::InfiniteDuration()) {
  FitTasks();
}

void BmcReader::Retry(absl::Duration now) {
  if (!problem_ || problem_->empty()) return;
  pause_.Reset();
  for (const auto& task : tasks_) {
    if (task->failures > 0) task->due = std::min(task->due, now);
  }
  if (tasks_.empty()) inventory_ = std::min(inventory_, now);
}

absl::Duration BmcReader::LoginTime() const { return std::max(options_.first_login, last_login_ + kLoginPause); }

absl::Duration BmcReader::DueOf(const Task& task) const {
  return task.topic == BmcTopic::kXid ? std::max(task.due, next_log_) : task.due;
}

BmcReader::Task* BmcReader::FirstTask(absl::Duration now) const {
  const auto first = std::ranges::min_element(tasks_, {}, [&](const auto& task) {
    // Among those that are due, the most important one.
    return std::pair(std::max(DueOf(*task), now), task->topic);
  });
  return first == tasks_.end() ? nullptr : first->get();
}

absl::Duration BmcReader::NextTime(absl::Duration now) {
  if (asked_) return absl::InfiniteDuration();
  const absl::Duration allowed = std::max(pause_.until(), budget_.NextTime(now));
  if (step_ == Step::kRoot) return allowed;
  if (!has_session_) return std::max(allowed, LoginTime());
  if (step_ != Step::kTasks) return allowed;
  const Task* const first = FirstTask(now);
  return std::max(allowed, first == nullptr ? inventory_ : std::min(DueOf(*first), inventory_));
}

std::string BmcReader::StepTarget() const {
  if (!next_page_.empty()) return next_page_;
  switch (step_) {
    case Step::kSystems:
      return systems_;
    case Step::kTray:
      return tray_;
    case Step::kManager:
      return manager_;
    case Step::kProcessors:
      return processors_.back();
    case Step::kReports:
      return reports_;
    default:
      return kRoot;
  }
}

std::optional<BmcRequest> BmcReader::Next(const BoardTime& now) {
  if (NextTime(now.steady) > now.steady) return std::nullopt;
  if (step_ == Step::kTasks && inventory_ <= now.steady) step_ = Step::kRoot;
  BmcRequest request;
  asked_task_ = nullptr;
  if (step_ != Step::kRoot && has_old_session_) {
    // It may still count among the BMC's few.
    request = {.method = BmcRequest::Method::kLogOut, .target = ""};
  } else if (step_ != Step::kRoot && !has_session_) {
    request = {.method = BmcRequest::Method::kLogIn, .target = sessions_};
    last_login_ = now.steady;
    was_away_ = false;
  } else if (step_ == Step::kTasks) {
    asked_task_ = FirstTask(now.steady);
    asked_task_->is_asked = true;
    request.target = asked_task_->entries.empty() ? asked_task_->target : asked_task_->entries;
    // Logs have a rhythm of their own, so that a long one takes no turns of the values.
    if (asked_task_->topic == BmcTopic::kXid && !options_.is_probe) {
      next_log_ = now.steady + PeriodOf(BmcTopic::kXid) / (2 * CountTasks(BmcTopic::kXid));
    }
  } else {
    request.target = StepTarget();
  }
  budget_.Spend(now.steady);
  asked_ = request;
  return request;
}

void BmcReader::SetState(BmcState state, const std::string& problem) {
  if (problem_ == problem) return;
  problem_ = problem;
  events_.state(state);
  if (!problem.empty()) return events_.log(problem, /*is_warning=*/true);
  events_.log(
      absl::StrCat(machine_, machine_.empty() ? "" : ": ", gpus_.size(), gpus_.size() == 1 ? " GPU" : " GPUs",
                   ", the fastest values every ", absl::FormatDuration(absl::Floor(period(), absl::Milliseconds(100)))),
      /*is_warning=*/false);
}

std::string BmcReader::OfLogin(absl::string_view what) const {
  return absl::StrCat(what, options_.login.empty() ? "" : " ", options_.login);
}

// A session that has ended is made again: the BMC ends old ones, and loses them when it restarts. Otherwise it is the
// one resource that is refused.
bool BmcReader::IsSessionRefused(absl::Duration now) {
  // Reports notice it soon.
  if (asked_task_ != nullptr && asked_task_->topic == BmcTopic::kXid) return false;
  const bool is_new = !was_away_ && now - last_login_ < kSessionMin;
  // Two in a row that were answered before are no coincidence.
  const bool is_second = asked_task_ != nullptr && asked_task_->failures == 0 && failures_ > 0;
  if (is_new && asked_task_ != nullptr && !is_second) return false;
  if (is_new && asked_task_ == nullptr) {
    pause_.Fail(now, {});
    SetState(BmcState::kRefused, absl::StrCat(OfLogin("the BMC refuses the session"), ": HTTP status 401"));
  }
  // Tasks that were refused for the session's sake are asked again with the next one.
  for (const auto& task : tasks_) {
    if (task->failures == 1) {
      task->failures = 0;
      task->due = std::min(task->due, now);
    }
  }
  has_old_session_ = std::exchange(has_session_, false);
  return true;
}

bool BmcReader::IsRefused(const BmcAnswer& answer, const BoardTime& now) {
  const std::string cause = asked_task_ == nullptr ? "" : absl::StrCat(asked_task_->target, ": ");
  // A task that fails again, while others are answered, is the cause itself.
  const bool is_extra = asked_task_ != nullptr && IsExtra(asked_task_->topic);
  const bool is_tasks_own =
      is_extra || (asked_task_ != nullptr && (options_.is_probe || (asked_task_->failures > 0 && failures_ == 0)));
  // One bad answer does not concern the others.
  if (asked_task_ != nullptr && absl::IsDataLoss(answer.status)) return false;
  if (!answer.status.ok()) {
    if (is_tasks_own) return false;
    was_away_ = true;
    // A connection that breaks once is made again soon.
    if (absl::IsUnavailable(answer.status)) {
      pause_.FailOnce(now.steady, options_.interval);
    } else {
      pause_.Fail(now.steady, {});
    }
    SetState(BmcState::kUnreachable,
             absl::StrCat(absl::IsUnavailable(answer.status) ? "" : cause, answer.status.message()));
    return true;
  }
  switch (answer.code) {
    case 401:
      return IsSessionRefused(now.steady);
    case 429:
    case 503:
      if (is_tasks_own) return false;
      pause_.Fail(now.steady, answer.retry_after);
      SetState(BmcState::kBusy,
               absl::StrCat(cause, "the BMC is busy, or has no session left: ", CodeText(answer.code)));
      return true;
    default:
      return false;
  }
}

void BmcReader::Take(const BmcAnswer& answer, const BoardTime& now) {
  const BmcRequest request = *std::exchange(asked_, std::nullopt);
  for (int more = 1; more < answer.requests; ++more) budget_.Spend(now.steady);
  events_.requested(answer.status.ok() ? CodeLabel(answer.code) : "unreachable");
  if (request.method == BmcRequest::Method::kLogOut) {
    has_old_session_ = false;
    return;
  }
  if (request.method == BmcRequest::Method::kLogIn) return TakeLogin(answer, now);
  // Nothing depends on what the machine is called.
  const bool is_name = asked_task_ == nullptr && (step_ == Step::kTray || step_ == Step::kManager);
  if (is_name && !(answer.status.ok() && IsSuccess(answer.code))) return TakeStep({}, now);
  // The root needs no login; where it is refused all the same, it has its usual links.
  if (step_ == Step::kRoot && answer.status.ok() && answer.code == 401) return TakeRoot({});
  if (IsRefused(answer, now)) {
    // The others come first after the pause, should this one be the cause.
    if (asked_task_ != nullptr && answer.code != 401) {
      ++asked_task_->failures;
      ++failures_;
      asked_task_->due = std::max(now.steady, pause_.until()) + PeriodOf(asked_task_->topic);
    }
    if (asked_task_ == nullptr && answer.code != 401) FailStep(now);
    return;
  }
  if (asked_task_ != nullptr) return TakeTask(*asked_task_, answer, now);
  if (answer.code >= 500) {
    pause_.Fail(now.steady, answer.retry_after);
    SetState(BmcState::kFailing, absl::StrCat(request.target, ": ", CodeText(answer.code)));
    return FailStep(now);
  }
  // A link that is missing, or makes no sense, is the usual one; a collection is empty then.
  auto resource = IsSuccess(answer.code) ? ParseResource(request.target, answer.body) : BmcValues{};
  is_inventory_whole_ &= is_name || (IsSuccess(answer.code) && resource.ok());
  TakeStep(resource.ok() ? *resource : BmcValues{}, now);
}

void BmcReader::TakeLogin(const BmcAnswer& answer, const BoardTime& now) {
  if (IsSuccess(answer.code)) {
    has_session_ = true;
    // A BMC that has restarted may have other GPUs.
    if (step_ == Step::kTasks) inventory_ = std::min(inventory_, now.steady);
    events_.logged_in();
    return;
  }
  if (answer.status.ok() && answer.code != 429 && answer.code != 503) {
    pause_.Fail(now.steady, {});
    const std::string what = answer.code == 404
                                 ? "there is no Redfish service at the url, which may need a path such as /hmc"
                                 : OfLogin("the BMC refuses the login");
    return SetState(answer.code == 404 ? BmcState::kFailing : BmcState::kRefused,
                    absl::StrCat(what, ": ", CodeText(answer.code)));
  }
  IsRefused(answer, now);
}

// An inventory that fails does not keep what is known from being read; one that always fails there goes on without.
void BmcReader::FailStep(const BoardTime& now) {
  constexpr int kFailuresMax = 3;
  if (step_ == Step::kRoot && tasks_.empty()) return;
  if (tasks_.empty()) {
    if (++step_failures_ < kFailuresMax) return;
    is_inventory_whole_ = false;
    return TakeStep({}, now);
  }
  step_ = Step::kTasks;
  members_.clear();
  next_page_.clear();
  pages_ = 0;
  inventory_ = now.steady + RetryTime();
}

absl::Duration BmcReader::RetryTime() {
  return std::min(kInventoryRetry * (1 << std::min(inventory_failures_++, 4)), kInventory);
}

void BmcReader::TakeStep(const BmcValues& resource, const BoardTime& now) {
  if (step_ == Step::kRoot) return TakeRoot(resource);
  if (step_ == Step::kTray) return TakeTray(resource);
  if (step_ == Step::kManager) {
    const std::string firmware = Shown(FindText(resource, "/FirmwareVersion").value_or(""));
    if (!firmware.empty()) absl::StrAppend(&machine_, machine_.empty() ? "" : ", ", "firmware ", firmware);
    step_ = Step::kProcessors;
    return;
  }
  for (std::string& member : MembersOf(resource)) {
    if (members_.size() < kMembersMax) members_.push_back(std::move(member));
  }
  next_page_ = PathOr(FindText(resource, "/Members@odata.nextLink"), "");
  if (!next_page_.empty() && ++pages_ < kPagesMax) return;
  next_page_.clear();
  pages_ = step_failures_ = 0;
  if (step_ == Step::kSystems) {
    TakeSystems();
  } else if (step_ == Step::kProcessors) {
    TakeProcessors();
  } else {
    TakeReports(now);
  }
  members_.clear();
}

void BmcReader::TakeRoot(const BmcValues& root) {
  sessions_ = PathOr(FindText(root, "/Links/Sessions/@odata.id"), "/redfish/v1/SessionService/Sessions");
  systems_ = PathOr(FindText(root, "/Systems/@odata.id"), "/redfish/v1/Systems");
  const std::string telemetry = PathOr(FindText(root, "/TelemetryService/@odata.id"), "/redfish/v1/TelemetryService");
  reports_ = absl::StrCat(absl::StripSuffix(telemetry, "/"), "/MetricReports");
  product_ = Shown(FindText(root, "/Product").value_or(""));
  step_ = Step::kSystems;
  is_inventory_whole_ = true;
  has_prefix_ = false;
}

// A tray of GPUs is a system of its own, beside the host's.
void BmcReader::TakeSystems() {
  std::vector<std::string> trays, others;
  tray_.clear();
  for (const std::string& member : members_) {
    const std::string name = LastName(member), path = PathOr(member, "");
    if (path.empty()) continue;
    const bool is_ubb = absl::EqualsIgnoreCase(name, "UBB");
    has_prefix_ |= HasPrefix(name);
    if (HasPrefix(name) || is_ubb) vendor_ = is_ubb ? BmcVendor::kAmd : BmcVendor::kNvidia;
    auto& list = HasPrefix(name) || is_ubb ? trays : others;
    if (&list == &trays && trays.empty()) tray_ = path;
    if (list.size() < kSystemsMax) list.push_back(absl::StrCat(absl::StripSuffix(path, "/"), "/Processors"));
  }
  processors_ = trays.empty() ? others : trays;
  // A board that is asked directly is the only system.
  if (members_.size() == 1 && trays.empty()) tray_ = PathOr(members_.front(), "");
  step_ = !tray_.empty() ? Step::kTray : processors_.empty() ? Step::kReports : Step::kProcessors;
}

void BmcReader::TakeTray(const BmcValues& tray) {
  const auto text = [&](const char* pointer) { return Shown(FindText(tray, pointer).value_or("")); };
  const std::string maker = text("/Manufacturer"), model = text("/Model").empty() ? product_ : text("/Model");
  machine_ = absl::StartsWith(model, maker) ? model : absl::StrCat(maker, model.empty() ? "" : " ", model);
  manager_ = PathOr(FindText(tray, "/Links/ManagedBy/0/@odata.id"), "");
  step_ = manager_.empty() ? Step::kProcessors : Step::kManager;
}

void BmcReader::TakeProcessors() {
  for (const std::string& member : members_) {
    const std::string name = LastName(member), path = PathOr(member, "");
    if (path.empty() || !absl::StartsWithIgnoreCase(name, "gpu")) continue;
    KnownGpu* const gpu = FindGpu(name, /*may_add=*/true);
    // Two trays may have GPUs of the same names: the first one is read.
    if (gpu != nullptr && gpu->second.processor.empty())
      gpu->second.processor = std::string(absl::StripSuffix(path, "/"));
  }
  processors_.pop_back();
  if (processors_.empty()) step_ = Step::kReports;
}

void BmcReader::TakeReports(const BoardTime& now) {
  step_ = Step::kTasks;
  old_tasks_ = std::exchange(tasks_, {});
  asked_task_ = nullptr;
  failures_ = 0;
  // Beside reports with the prefix, those without are the host's. A board that is asked directly has none with it.
  has_prefix_ |= std::ranges::any_of(members_, [](const auto& member) { return HasPrefix(LastName(member)); });
  const auto find = [&](const ReportRow& row) {
    const bool is_prefixed = has_prefix_ && row.vendor == BmcVendor::kNvidia;
    const std::string id = absl::StrCat(is_prefixed ? "HGX_" : "", row.id);
    const auto report = std::ranges::find_if(
        members_, [&](const auto& member) { return absl::EqualsIgnoreCase(LastName(member), id); });
    return report == members_.end() ? "" : PathOr(*report, "");
  };
  for (const ReportRow& row : kReports) {
    // Hosts without GPUs have such a report, too.
    const bool tells_vendor = has_prefix_ || row.topic != BmcTopic::kEnvironment || row.vendor == BmcVendor::kAmd;
    if (!vendor_ && tells_vendor && !find(row).empty()) vendor_ = row.vendor;
  }
  for (const ReportRow& row : kReports) {
    const std::string path = find(row);
    if (path.empty() || vendor_ != row.vendor || (row.topic == BmcTopic::kLinks && !options_.has_links)) continue;
    AddTask(row.topic, path, /*gpu=*/"", now);
  }
  if (vendor_) {
    for (const BmcTopic topic :
         {BmcTopic::kEnvironment, BmcTopic::kActivity, BmcTopic::kProcessor, BmcTopic::kMemory}) {
      if (CountTasks(topic) == 0) AddResources(topic, now);
    }
    AddResources(BmcTopic::kXid, now);
    AddResources(BmcTopic::kIdentity, now);
    const bool lacks_links = options_.has_links && CountTasks(BmcTopic::kLinks) == 0;
    if (lacks_links && !std::exchange(has_told_links_, true)) {
      events_.log("the BMC has no report of links", /*is_warning=*/true);
    }
  }
  for (auto& [name, gpu] : gpus_) gpu.log.DoubtHead();
  FitTasks();
  SpreadIdentities(now.steady);
  const bool is_whole = is_inventory_whole_ && !tasks_.empty();
  if (is_whole) inventory_failures_ = 0;
  inventory_ = now.steady + (is_whole ? kInventory : RetryTime());
  if (tasks_.empty()) {
    SetState(BmcState::kNoGpus, absl::StrCat("the BMC has no telemetry of GPUs that is served",
                                             product_.empty() ? "" : absl::StrCat(" (it is '", product_, "')"),
                                             "; docs/bmc.md lists what is"));
  }
}

// A task that there was in the inventory before goes on as it was.
void BmcReader::AddTask(BmcTopic topic, std::string target, const std::string& gpu, const BoardTime& now) {
  Task& task = *tasks_.emplace_back(std::make_unique<Task>(
      Task{.topic = topic, .target = std::move(target), .gpu = gpu, .due = now.steady, .ages = {}}));
  const auto old = std::ranges::find_if(old_tasks_, [&](const auto& of) { return of->target == task.target; });
  if (old == old_tasks_.end()) return;
  task.ages = (*old)->ages;
  task.failures = (*old)->failures;
  task.refusals = (*old)->refusals;
  task.empty_answers = (*old)->empty_answers;
  task.is_told = (*old)->is_told;
  task.is_cut_told = (*old)->is_cut_told;
  task.had_values = (*old)->had_values;
  if (topic != BmcTopic::kIdentity) task.due = (*old)->due;
}

size_t BmcReader::CountTasks(BmcTopic topic) const {
  return static_cast<size_t>(std::ranges::count_if(tasks_, [&](const auto& task) { return task->topic == topic; }));
}

void BmcReader::AddResources(BmcTopic topic, const BoardTime& now) {
  for (const auto& [name, gpu] : gpus_) {
    if (gpu.processor.empty() || (gpu.is_absent && topic != BmcTopic::kIdentity)) continue;
    const size_t folder = gpu.processor.rfind("/Processors/");
    const char* const prefix = has_prefix_ ? "HGX_" : "";
    const std::string chassis = absl::StrCat("/redfish/v1/Chassis/", prefix, name);
    switch (topic) {
      case BmcTopic::kEnvironment:
        for (const char* const sensor : kSensors) {
          if (vendor_ != BmcVendor::kNvidia) break;
          AddTask(topic, absl::StrCat(chassis, "/Sensors/", prefix, name, "_", sensor), name, now);
        }
        break;
      case BmcTopic::kActivity:
      case BmcTopic::kProcessor: {
        // One resource has the values of both; it is read as often as the more important ones.
        const std::string target = absl::StrCat(gpu.processor, "/ProcessorMetrics");
        const auto known = std::ranges::find_if(tasks_, [&](const auto& task) { return task->target == target; });
        if (known != tasks_.end()) (*known)->topic = std::min((*known)->topic, topic);
        if (vendor_ == BmcVendor::kNvidia && known == tasks_.end()) AddTask(topic, target, name, now);
        break;
      }
      case BmcTopic::kMemory:
        if (vendor_ != BmcVendor::kNvidia || folder == std::string::npos) break;
        AddTask(topic, absl::StrCat(gpu.processor.substr(0, folder), "/Memory/", name, "_DRAM_0/MemoryMetrics"), name,
                now);
        break;
      case BmcTopic::kHealth:
        // Processors, which are read for kIdentity, say it.
      case BmcTopic::kLinks:
        // Two requests for each of a GPU's 18 ports are too many.
        break;
      case BmcTopic::kXid:
        if (vendor_ == BmcVendor::kNvidia) AddTask(topic, absl::StrCat(chassis, "/LogServices/XID"), name, now);
        break;
      case BmcTopic::kIdentity:
        AddTask(topic, gpu.processor, name, now);
        AddTask(topic, absl::StrCat(gpu.processor, kEnvironmentMetrics), name, now);
        break;
    }
  }
}

// Whether there are logs, and reports of links that say what they are, is known once one was read.
bool BmcReader::IsRead(BmcTopic topic) const {
  if (topic == BmcTopic::kXid) {
    return std::ranges::any_of(gpus_, [](const auto& gpu) { return gpu.second.log.is_read(); });
  }
  return std::ranges::any_of(tasks_, [&](const auto& task) {
    return task->topic == topic && (topic != BmcTopic::kLinks || task->had_values);
  });
}

std::vector<PacedKind> BmcReader::Kinds() const {
  std::vector<PacedKind> kinds;
  for (size_t topic = 0; topic < std::size(kBmcTopics); ++topic) {
    const auto of = static_cast<BmcTopic>(topic);
    const bool is_fast = of == BmcTopic::kEnvironment || of == BmcTopic::kActivity;
    const bool is_rare = of == BmcTopic::kHealth || of == BmcTopic::kLinks;
    const absl::Duration slow = std::max(options_.interval, kSlow);
    // A log may need its head and its entries. Identities take what is left.
    const size_t times = of == BmcTopic::kXid ? 2 : of == BmcTopic::kIdentity ? 0 : 1;
    kinds.push_back({.period = is_fast                     ? options_.interval
                               : of == BmcTopic::kIdentity ? kInventory
                               : is_rare                   ? std::max(options_.interval, kRarePeriod)
                                                           : slow,
                     .requests = times * CountTasks(of)});
  }
  return kinds;
}

void BmcReader::FitTasks() {
  const std::vector<absl::Duration> fitted = FitPeriods(Kinds(), options_.requests_per_minute);
  for (size_t topic = 0; topic < fitted.size(); ++topic) {
    const auto of = static_cast<BmcTopic>(topic);
    if (IsRead(of)) events_.period(of, fitted[topic]);
  }
  periods_ = fitted;
}

// The hourly kind takes what the others leave of the budget: the processors first, then their limits. The logs wait for
// it.
void BmcReader::SpreadIdentities(absl::Duration now) {
  if (options_.is_probe) return;
  double others = 0;
  for (const auto& task : tasks_) {
    if (task->topic < BmcTopic::kXid) others += absl::FDivDuration(absl::Minutes(1), PeriodOf(task->topic));
  }
  const double spare = std::max(options_.requests_per_minute - others, kSpareMin * options_.requests_per_minute);
  // The first minute of an inventory is full, where little is left.
  absl::Duration due = spare < kSpareAtOnce ? now + absl::Minutes(1) : now;
  for (const bool is_processor : {true, false}) {
    for (const auto& task : tasks_) {
      const bool is_chosen =
          task->topic == BmcTopic::kIdentity && is_processor != absl::EndsWith(task->target, kEnvironmentMetrics);
      if (!is_chosen) continue;
      task->due = due;
      due += absl::Minutes(1) / spare;
    }
  }
  for (const auto& task : tasks_) {
    if (task->topic == BmcTopic::kXid) task->due = std::max(task->due, due);
  }
}

absl::Duration BmcReader::KeepOf(BmcTopic topic) const {
  const bool is_fast = topic == BmcTopic::kEnvironment || topic == BmcTopic::kActivity;
  return kPeriodsKept * PeriodOf(topic) + (is_fast ? absl::ZeroDuration() : kSlow);
}

BmcReader::KnownGpu* BmcReader::FindGpu(const std::string& name, bool may_add) {
  for (KnownGpu& known : gpus_) {
    if (IsSameGpu(known.first, name)) return &known;
  }
  if (!may_add || gpus_.size() >= kGpusMax || !IsPlainName(name)) return nullptr;
  return &*gpus_.try_emplace(name).first;
}

void BmcReader::PostponeTask(Task& task, const std::string& error, absl::Duration now) {
  const bool is_extra = IsExtra(task.topic);
  if (!is_extra) ++failures_;
  ++task.failures;
  task.entries.clear();
  // Each inventory asks for a report that is known to be useless.
  if (!useless_.contains(NameOf(task)) && !std::exchange(task.is_told, true)) {
    events_.log(absl::StrCat(task.target, ": ", error), /*is_warning=*/true);
  }
  const absl::Duration pause = std::min(kTaskPause * (1 << std::min(task.failures - 1, 4)), kTaskPauseMax);
  task.due = now + std::max(pause, PeriodOf(task.topic));
  const auto others = std::ranges::count_if(tasks_, [](const auto& other) { return !IsExtra(other->topic); });
  if (!is_extra && failures_ >= static_cast<size_t>(others)) {
    SetState(BmcState::kFailing, absl::StrCat("nothing is answered; the last error: ", error));
  }
}

absl::StatusOr<bool> BmcReader::ReadTask(Task& task, const BmcAnswer& answer, const BoardTime& now) {
  if (!answer.status.ok()) return answer.status;
  if (task.topic == BmcTopic::kXid && answer.code == 404) {
    const KnownGpu* const gpu = FindGpu(task.gpu, /*may_add=*/false);
    // Not every firmware has a log.
    if (task.entries.empty() && gpu != nullptr && !gpu->second.log.is_read()) return false;
  }
  if (!IsSuccess(answer.code)) return absl::NotFoundError(CodeText(answer.code));
  if (task.topic == BmcTopic::kXid) {
    SIDEBAND_RETURN_IF_ERROR(TakeLog(task, answer.body, now));
    return true;
  }
  SIDEBAND_ASSIGN_OR_RETURN(const BmcValues values,
                            task.gpu.empty() ? ParseReport(answer.body) : ParseResource(task.target, answer.body));
  return TakeValues(task, values, now);
}

void BmcReader::TakeTask(Task& task, const BmcAnswer& answer, const BoardTime& now) {
  const absl::StatusOr<bool> is_read_on = ReadTask(task, answer, now);
  if (!is_read_on.ok()) {
    PostponeTask(task, std::string(is_read_on.status().message()), now.steady);
    // The next answer would be the same.
    constexpr int kRefusals[] = {400, 403, 404, 405, 410};
    const bool is_refused = answer.status.ok() && std::ranges::count(kRefusals, answer.code) > 0;
    task.refusals = is_refused ? task.refusals + 1 : 0;
    if (!is_refused || !IsUseless(task, task.refusals)) return;
    ReplaceReport(task, "is refused", now);
    return DropTask(task);
  }
  if (task.topic == BmcTopic::kXid) return TakeLogTask(task, *is_read_on, now);
  task.failures = task.refusals = 0;
  // In step with the first reading, but never at once again.
  while (task.due <= now.steady) task.due += PeriodOf(task.topic);
  if (!IsExtra(task.topic)) {
    pause_.Succeed();
    failures_ = 0;
    SetState(BmcState::kUp, "");
  }
  if (!*is_read_on) DropTask(task);
}

// The name of a report, of which there are few, whatever its path is.
std::string BmcReader::NameOf(const Task& task) { return absl::AsciiStrToLower(LastName(task.target)); }

// Whether a report of which so many answers in a row had no values can be replaced, and is to be.
bool BmcReader::IsUseless(const Task& task, int answers) const {
  constexpr int kAnswersMax = 3;
  const bool has_resources = std::ranges::any_of(gpus_, [](const auto& gpu) { return !gpu.second.processor.empty(); });
  const bool may_be_replaced = task.topic == BmcTopic::kHealth || !IsExtra(task.topic);
  return task.gpu.empty() && may_be_replaced && vendor_ == BmcVendor::kNvidia && has_resources &&
         (answers >= kAnswersMax || useless_.contains(NameOf(task)));
}

// Each inventory tries the report again.
void BmcReader::ReplaceReport(const Task& task, absl::string_view why, const BoardTime& now) {
  if (useless_.insert(NameOf(task)).second) {
    events_.log(absl::StrCat(task.target, " ", why, "; ",
                             task.topic == BmcTopic::kHealth  ? "each GPU's processor says it once an hour"
                             : task.topic == BmcTopic::kLinks ? "links are not served"
                                                              : "each GPU's resource is read instead"),
                /*is_warning=*/false);
  }
  AddResources(task.topic, now);
}

void BmcReader::DropTask(const Task& task) {
  std::erase_if(tasks_, [&](const auto& known) { return known.get() == &task; });
  FitTasks();
}

// Whether a log is answered says nothing of the BMC's values.
void BmcReader::TakeLogTask(Task& task, bool is_read_on, const BoardTime& now) {
  if (!is_read_on) return DropTask(task);
  if (!task.entries.empty()) return;
  task.failures = 0;
  while (task.due <= now.steady) task.due += PeriodOf(task.topic);
  if (std::exchange(task.is_told, false)) events_.log(absl::StrCat(task.target, ": is there again"), false);
}

absl::Status BmcReader::TakeLog(Task& task, absl::string_view body, const BoardTime& now) {
  const bool is_head = task.entries.empty();
  task.entries.clear();
  KnownGpu* const gpu = FindGpu(task.gpu, /*may_add=*/false);
  if (gpu == nullptr || gpu->second.is_absent) return absl::OkStatus();
  XidLog& log = gpu->second.log;
  if (is_head) {
    SIDEBAND_ASSIGN_OR_RETURN(task.entries, log.TakeHead(task.target, body));
    if (task.entries.empty()) CountXids(*gpu, {}, now);
    return absl::OkStatus();
  }
  const bool was_read = log.is_read();
  SIDEBAND_ASSIGN_OR_RETURN(const XidLog::Page page, log.TakePage(body, now.wall));
  CountXids(*gpu, page, now);
  if (page.is_endless) {
    return absl::InvalidArgumentError(absl::StrCat("the log has more than ", XidLog::kPagesMax, " pages"));
  }
  task.entries = page.next;
  if (log.is_read() != was_read) FitTasks();
  return absl::OkStatus();
}

void BmcReader::CountXids(KnownGpu& gpu, const XidLog::Page& page, const BoardTime& now) {
  constexpr size_t kLinesMax = 10;
  for (size_t i = 0; i < std::min(page.news.size(), kLinesMax); ++i) {
    events_.log(absl::StrCat(gpu.first, ": xid ", page.news[i].xid, ": ", page.news[i].text), /*is_warning=*/true);
  }
  if (page.news.size() > kLinesMax) {
    events_.log(absl::StrCat(gpu.first, ": ", page.news.size() - kLinesMax, " more Xids"), /*is_warning=*/true);
  }
  if (page.unknown > 0) events_.left_out(BmcOmission::kUnknownWord, page.unknown);
  gpu.second.values.TakeMessages(page.news, now);
  changed_.insert(gpu.first);
}

bool BmcReader::TakeValues(Task& task, const BmcValues& answer, const BoardTime& now) {
  TakeIdentity(task, answer, now);
  Harvest harvest{.unit = task.gpu.empty() ? std::nullopt : FindText(answer, "/ReadingUnits")};
  for (const BmcValue& value : answer.values) FindValue(task, value, harvest);
  if (answer.is_cut && !std::exchange(task.is_cut_told, true)) {
    events_.log(absl::StrCat(task.target, ": only its first ", kReportValuesMax, " values are read"), true);
  }
  TakeFound(task, answer.time, now, harvest);
  for (size_t why = 0; why < std::size(kBmcOmissions); ++why) {
    if (harvest.left_out[why] > 0) events_.left_out(static_cast<BmcOmission>(why), harvest.left_out[why]);
  }
  if (!task.gpu.empty() || harvest.served > 0) {
    useless_.erase(NameOf(task));
    if (std::exchange(task.is_told, false)) events_.log(absl::StrCat(task.target, ": is there again"), false);
    task.empty_answers = 0;
    if (!std::exchange(task.had_values, true) && task.topic == BmcTopic::kLinks) FitTasks();
    return true;
  }
  if (harvest.nameless == 0) {
    // A BMC that starts has nothing yet; others have no values of GPUs in this report.
    const absl::Duration pause = std::min(kTaskPause * (1 << std::min(task.empty_answers++, 4)), kTaskPauseMax);
    task.due = now.steady + std::max(pause, PeriodOf(task.topic));
    if (!task.had_values && IsUseless(task, task.empty_answers)) {
      ReplaceReport(task, "has no values of GPUs", now);
      return false;
    }
    if (task.had_values && !std::exchange(task.is_told, true)) {
      events_.log(absl::StrCat(task.target, ": has no values of GPUs any more"), /*is_warning=*/true);
    }
    return true;
  }
  ReplaceReport(task, "does not say what its values are", now);
  return false;
}

void BmcReader::FindValue(const Task& task, const BmcValue& value, Harvest& harvest) {
  const Located located = Locate(value.property);
  if (located.has_no_member) {
    ++harvest.nameless;
    return harvest.LeaveOut(BmcOmission::kNoMember);
  }
  const BmcQuantity* const row = located.place ? FindQuantity(*vendor_, *located.place) : nullptr;
  if (row == nullptr) return;
  ++harvest.served;
  // A value that is read each hour would age a group of others.
  const bool is_hourly =
      IsHourlyOfBmc(row->group) || (row->group == BoardGroup::kHealth && CountTasks(BmcTopic::kHealth) == 0);
  if (task.topic == BmcTopic::kIdentity && !is_hourly) return;
  const bool may_add = task.gpu.empty() && task.topic != BmcTopic::kHealth;
  KnownGpu* const gpu = FindGpu(located.place->gpu, may_add);
  if (gpu == nullptr || gpu->second.is_absent) return;
  const bool has_unit = harvest.unit && !harvest.unit->empty();
  if (row->unit != nullptr && has_unit && *harvest.unit != row->unit) {
    return harvest.LeaveOut(BmcOmission::kWrongUnit);
  }
  Found found{.gpu = gpu,
              .row = row,
              .index = located.place->index,
              .parsed = ParseSample(*row, value.text),
              .time = value.time};
  // AMD's times, and those of health, say when a value has changed, not when it was read.
  if (vendor_ == BmcVendor::kNvidia && task.topic != BmcTopic::kHealth) found.stamp = value.time;
  harvest.found.push_back(std::move(found));
}

void BmcReader::TakeFound(Task& task, std::optional<absl::Time> newest, const BoardTime& now, Harvest& harvest) {
  std::set<std::pair<KnownGpu*, const BmcQuantity*>> lists;
  for (const Found& found : harvest.found) {
    const bool is_list = found.index && IsList(*found.row);
    if (is_list && lists.emplace(found.gpu, found.row).second) found.gpu->second.values.DropList(*found.row);
    if (found.parsed.omission) {
      harvest.LeaveOut(*found.parsed.omission);
    } else if (found.time && (!newest || *found.time > *newest)) {
      newest = found.time;
    }
  }
  task.ages.Take(task.topic == BmcTopic::kHealth ? std::nullopt : newest, now.steady);
  std::set<std::tuple<KnownGpu*, const BmcQuantity*, std::optional<uint8_t>>> taken;
  for (const Found& found : harvest.found) {
    if (found.parsed.omission) continue;
    // A value that is there twice is taken once: a count that fell within an answer would begin again each time.
    const bool is_once = !found.stamp || IsCount(found.row->kind);
    if (is_once && !taken.emplace(found.gpu, found.row, found.index).second) continue;
    const SampleTime time{.measured = task.ages.TimeOf(found.stamp), .keep = KeepOf(task.topic), .stamp = found.stamp};
    if (now.steady - time.measured > time.keep) {
      harvest.LeaveOut(BmcOmission::kStale);
      continue;
    }
    found.gpu->second.values.Take(*found.row, found.index, found.parsed, time, now);
    changed_.insert(found.gpu->first);
  }
}

void BmcReader::TakeIdentity(const Task& task, const BmcValues& processor, const BoardTime& now) {
  KnownGpu* const known = FindGpu(task.gpu, /*may_add=*/false);
  if (known == nullptr || task.target != known->second.processor) return;
  Gpu& gpu = known->second;
  if (const auto state = FindText(processor, "/Status/State")) {
    const bool is_absent = *state == "Absent";
    if (is_absent != std::exchange(gpu.is_absent, is_absent)) {
      events_.log(absl::StrCat(task.gpu, is_absent ? " is absent, as the BMC says" : " is present again"), is_absent);
      // Other resources are to be read; one inventory serves all GPUs that change now.
      inventory_ = std::min(inventory_, now.steady + absl::Minutes(1));
    }
    if (is_absent) gpu.values.Restart();
  }
  const auto uuid = FindText(processor, "/UUID");
  const BmcQuantity* const row =
      FindQuantity(*vendor_, {.gpu = task.gpu, .resource = BmcResource::kProcessor, .member = "uuid", .index = {}});
  if (!uuid || row == nullptr || ParseSample(*row, *uuid).omission) return;
  if (!gpu.uuid.empty() && gpu.uuid != *uuid) {
    events_.log(absl::StrCat(task.gpu, " is another GPU now; its counts begin again"), /*is_warning=*/true);
    gpu.values.Restart();
  }
  gpu.uuid = *uuid;
}

bool BmcReader::is_complete() const {
  return step_ == Step::kTasks && !asked_ &&
         std::ranges::all_of(tasks_, [](const auto& task) { return task->is_asked && task->entries.empty(); });
}

std::vector<std::string> BmcReader::gpus() const {
  std::vector<std::string> names;
  for (const auto& [name, gpu] : gpus_) names.push_back(name);
  return names;
}

size_t BmcReader::CountValues(absl::string_view name) const {
  const auto gpu = gpus_.find(std::string(name));
  return gpu == gpus_.end() ? 0 : gpu->second.values.size();
}

std::string BmcReader::SourcesOf(BmcTopic topic) const {
  std::vector<std::string> reports;
  size_t resources = 0;
  for (const auto& task : tasks_) {
    if (task->topic != topic) continue;
    if (!task->gpu.empty()) ++resources;
    if (task->gpu.empty()) reports.push_back(LastName(task->target));
  }
  if (resources > 0) reports.push_back(absl::StrCat(resources, resources == 1 ? " resource" : " resources"));
  return absl::StrJoin(reports, ", ");
}

double BmcReader::RequestsPerMinute() const {
  double sum = 0;
  const std::vector<PacedKind> kinds = Kinds();
  for (size_t i = 0; i < kinds.size(); ++i) sum += PerMinute(kinds[i], periods_[i]);
  return sum;
}

std::set<std::string> BmcReader::TakeChanged() { return std::exchange(changed_, {}); }

std::shared_ptr<const BoardReading> BmcReader::Reading(absl::string_view name, const BoardTime& now) {
  KnownGpu* const gpu = FindGpu(std::string(name), /*may_add=*/false);
  return gpu == nullptr ? std::make_shared<const BoardReading>() : gpu->second.values.Reading(now);
}

}  // namespace sideband::daemon
