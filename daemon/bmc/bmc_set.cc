// SPDX-License-Identifier: Apache-2.0
#include "daemon/bmc/bmc_set.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "daemon/bmc/bmc_connection.h"
#include "daemon/bmc/bmc_reader.h"
#include "daemon/collector/device_board.h"
#include "proto/base/steady_time.h"
#include "proto/mailbox/board_items.h"

namespace sideband::daemon {
namespace {

namespace asio = boost::asio;

constexpr absl::Duration kStopMax = absl::Seconds(2);
constexpr absl::Duration kNewDevice = absl::Seconds(1);
// A daemon that is started again and again must not log in each time.
constexpr absl::Duration kLoginsApart = absl::Seconds(10);

double RandomShare() {
  thread_local std::mt19937 random(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(random);
}

// "GPU_SXM_3" is 3; a name without a number is its position.
size_t IndexOf(absl::string_view gpu, size_t position) {
  size_t begin = gpu.size();
  while (begin > 0 && absl::ascii_isdigit(gpu[begin - 1])) --begin;
  size_t index = 0;
  return absl::SimpleAtoi(gpu.substr(begin), &index) && index < kBmcDevicesMax ? index : position;
}

// When the last login was made, in a file whose time of change that is.
class LoginFile {
 public:
  LoginFile(const std::string& folder, const std::string& bmc)
      : path_(folder.empty() ? "" : absl::StrCat(folder, "/bmc-", bmc, ".login")) {}

  std::optional<absl::Time> Last() const {
    struct stat status = {};
    if (path_.empty() || stat(path_.c_str(), &status) != 0) return std::nullopt;
    return absl::TimeFromTimespec(status.st_mtim);
  }
  void Touch() const {
    if (path_.empty()) return;
    const int file = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return;
    futimens(file, nullptr);
    close(file);
  }

 private:
  const std::string path_;
};

// The device of a GPU in a list of devices, by its id or UUID; empty: none.
std::string ListedName(const BmcConfig& config, const std::string& gpu, const BoardReading& reading) {
  const auto guid = Find(reading.identity.items, mailbox::SysId::kGuid);
  for (const BmcDevice& device : config.devices) {
    const bool has_uuid = guid && *guid == absl::StrReplaceAll(absl::AsciiStrToLower(device.id), {{"-", ""}});
    if (IsSameGpu(device.id, gpu) || has_uuid) return device.name;
  }
  return "";
}

// A line for each listed device that no GPU has; `found` are the devices that have one.
std::vector<std::string> MissingDevices(const BmcConfig& config, const std::set<std::string>& found,
                                        const std::vector<std::string>& gpus) {
  std::vector<std::string> lines;
  for (const BmcDevice& device : config.devices) {
    if (found.contains(device.name)) continue;
    lines.push_back(absl::StrCat("no GPU has the id '", device.id, "' of device ", device.name, "; the BMC has ",
                                 gpus.empty() ? "none" : absl::StrJoin(gpus, ", ")));
  }
  return lines;
}

// When a sensor was last measured; what a log and the health say does not tell that.
std::optional<BoardTime> NewestValue(const BoardReading& reading) {
  std::optional<BoardTime> newest;
  for (const auto& [group, time] : reading.samples) {
    const bool is_measured = group != BoardGroup::kDriverMessages && group != BoardGroup::kHealth;
    if (is_measured && (!newest || time.steady > newest->steady)) newest = time;
  }
  return newest;
}

// Who logs in, and the file of the secret.
std::string LoginText(const BmcConfig& config) {
  if (!config.session_token_file.empty()) return absl::StrCat("by ", config.session_token_file);
  return absl::StrCat("of ", config.user, " (", config.password_file, ")");
}

BmcConnection::Options ConnectionOptions(const BmcConfig& config) {
  return {.host = config.host,
          .port = config.port,
          .prefix = config.prefix,
          .ca_file = config.ca_file,
          .pin = config.pin,
          .user = config.user,
          .password_file = config.password_file,
          .session_token_file = config.session_token_file,
          .timeout = config.timeout};
}

}  // namespace

struct BmcSet::Impl {
  // One BMC. Used by the thread alone, but for its construction.
  class Runner : public std::enable_shared_from_this<Runner> {
   public:
    // `before` had the same BMC until now, with other settings; nullptr: none had.
    Runner(Impl& set, const BmcConfig& config, const Runner* before)
        : set_(set),
          config_(config),
          logins_(set.parts.state_folder, config.name),
          timer_(set.io),
          connection_(std::in_place, set.io.get_executor(), ConnectionOptions(config)),
          reader_({.requests_per_minute = config.requests_per_minute,
                   .interval = config.interval,
                   .has_links = config.has_links,
                   .login = LoginText(config),
                   .first_login = FirstLogin(before),
                   .before = before == nullptr ? std::nullopt : std::optional(before->reader_.budget())},
                  Events(), RandomShare) {
      // The devices stay, as far as they have their names.
      if (before != nullptr && before->config_.device_pattern == config.device_pattern &&
          before->config_.devices == config.devices) {
        found_ = before->found_;
        interval_ = before->interval_;
      }
    }

    const BmcConfig& config() const { return config_; }

    // Asks what there is to ask, and waits for the next time.
    void Run() {
      if (is_stopped_ || is_asking_) return;
      const BoardTime now = set_.Now();
      if (const auto request = reader_.Next(now)) {
        is_asking_ = true;
        is_logging_in_ = request->method == BmcRequest::Method::kLogIn;
        if (is_logging_in_) logins_.Touch();
        return connection_->Ask(*request, [self = shared_from_this()](const BmcAnswer& answer) { self->Take(answer); });
      }
      PublishExpired();
      Publish();
      // A device that was found is added within a second.
      const absl::Duration most = HasUnpublished() ? std::min(kNewDevice, config_.interval) : config_.interval;
      const absl::Duration wait = std::clamp(reader_.NextTime(now.steady) - now.steady, absl::ZeroDuration(), most);
      timer_.expires_after(absl::ToChronoNanoseconds(wait));
      timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
        if (!error) self->Run();
      });
    }

    void Retry() {
      reader_.Retry(set_.Now().steady);
      timer_.cancel();
      Run();
    }

    // Logs out; `done` is called once.
    void Stop(std::function<void()> done) {
      is_stopped_ = true;
      timer_.cancel();
      set_.parts.metrics.ForgetBmc(config_.name);
      stopped_ = std::move(done);
      if (!is_asking_) return LogOut();
      // The answer is then that it was aborted, and the logout follows. A login is waited for: it may make a session.
      if (!is_logging_in_) connection_->Abort();
    }

    // Ends without a logout. The thread has ended.
    void Discard() {
      stopped_ = nullptr;
      connection_.reset();
    }

    std::vector<DeviceConfig> devices() const {
      std::vector<DeviceConfig> devices;
      if (config_.device_pattern.empty()) {
        for (const BmcDevice& device : config_.devices) devices.push_back(ConfigOf(device.name, device.id));
        return devices;
      }
      for (const auto& [gpu, name] : found_) devices.push_back(ConfigOf(name, gpu));
      return devices;
    }

   private:
    absl::Duration FirstLogin(const Runner* before) const {
      const auto last = logins_.Last();
      const BoardTime now = set_.Now();
      // The one before logs out first, if it has a session.
      const absl::Duration after = before == nullptr ? -absl::InfiniteDuration()
                                                     : std::max(now.steady + kLoginsApart, before->reader_.LoginTime());
      if (!last || *last > now.wall) return after;
      return std::max(after, now.steady + kLoginsApart - (now.wall - *last));
    }

    BmcEvents Events() {
      return {.log =
                  [this](const std::string& line, bool is_warning) {
                    spdlog::log(is_warning ? spdlog::level::warn : spdlog::level::info, "bmc {}: {}", config_.name,
                                line);
                  },
              .requested = [this](absl::string_view code) { set_.parts.metrics.BmcRequest(config_.name, code); },
              .logged_in = [this] { set_.parts.metrics.BmcLogin(config_.name); },
              .left_out =
                  [this](BmcOmission why, size_t values) {
                    set_.parts.metrics.BmcValuesLeftOut(config_.name, kBmcOmissions[static_cast<size_t>(why)], values);
                  },
              .period =
                  [this](BmcTopic topic, absl::Duration period) {
                    set_.parts.metrics.BmcPeriod(config_.name, kBmcTopics[static_cast<size_t>(topic)], period);
                  },
              .state =
                  [this](BmcState state) {
                    for (size_t i = 0; i < std::size(kBmcStates); ++i) {
                      set_.parts.metrics.BmcStateIs(config_.name, kBmcStates[i], i == static_cast<size_t>(state));
                    }
                    set_.parts.metrics.BmcUp(config_.name, state == BmcState::kUp);
                  }};
    }

    void Take(const BmcAnswer& answer) {
      is_asking_ = false;
      if (is_stopped_) return LogOut();
      reader_.Take(answer, set_.Now());
      FindDevices();
      Publish();
      Run();
    }

    DeviceConfig ConfigOf(const std::string& name, const std::string& gpu) const {
      DeviceConfig device{.name = name, .bus = absl::StrCat("redfish:", config_.url, "#", gpu)};
      device.interval = interval_;
      device.board.is_read = true;
      device.bmc = config_.name;
      return device;
    }

    // Names the GPUs that were found. No two have one name.
    void FindDevices() {
      const auto before = std::exchange(found_, {});
      const absl::Duration interval = std::exchange(interval_, reader_.period());
      std::set<std::string> names;
      const std::vector<std::string> gpus = reader_.gpus();
      // A GPU keeps the name that it was discovered by: a tenant may have it.
      for (const bool is_known : {true, false}) {
        for (size_t position = 0; position < gpus.size(); ++position) {
          const std::string& gpu = gpus[position];
          const bool keeps_name = !config_.device_pattern.empty() && before.contains(gpu);
          if (keeps_name != is_known) continue;
          const std::string name = keeps_name ? before.at(gpu) : NameOf(gpu, position);
          if (name.empty()) continue;
          if (names.insert(name).second) {
            found_[gpu] = name;
          } else if (told_.insert(gpu).second) {
            spdlog::warn("bmc {}: {} would be device {}, too, and is left out: list the devices", config_.name, gpu,
                         name);
          }
        }
      }
      if (!is_checked_ && reader_.is_complete()) {
        is_checked_ = true;
        for (const std::string& line : MissingDevices(config_, names, reader_.gpus())) {
          spdlog::warn("bmc {}: {}", config_.name, line);
        }
      }
      // Until the first inventory has ended, those of before it are known.
      if (found_.empty()) found_ = before;
      if (found_ != before || interval != interval_) set_.Changed();
    }

    // The device of a GPU; empty: none.
    std::string NameOf(const std::string& gpu, size_t position) {
      if (!config_.device_pattern.empty()) return DiscoveredName(config_, IndexOf(gpu, position));
      return ListedName(config_, gpu, *reader_.Reading(gpu, set_.Now()));
    }

    void Publish() {
      std::set<std::string> changed = reader_.TakeChanged();
      // A device that has just been added has not had the values of before.
      for (const auto& [gpu, name] : found_) {
        if (!published_.contains(gpu)) changed.insert(gpu);
      }
      for (const std::string& gpu : changed) {
        const auto name = found_.find(gpu);
        const auto device = name == found_.end() ? std::nullopt : set_.parts.store.FindDevice(name->second);
        if (!device) continue;
        auto reading = reader_.Reading(gpu, set_.Now());
        const auto newest = NewestValue(*reading);
        if (reading->samples.empty()) continue;
        published_.insert(gpu);
        set_.parts.boards.Publish(*device, reading);
        if (newest) set_.parts.store.Publish(*device, snapshots_[gpu].Make(*reading, *newest));
      }
    }

    // Whether a GPU has values, and its device is not there yet.
    bool HasUnpublished() {
      return std::ranges::any_of(found_, [&](const auto& found) {
        return !published_.contains(found.first) && !reader_.Reading(found.first, set_.Now())->samples.empty();
      });
    }

    // Takes away what is too old, also while the BMC does not answer.
    void PublishExpired() {
      for (const auto& [gpu, name] : found_) {
        const auto device = set_.parts.store.FindDevice(name);
        const auto shown = device ? set_.parts.boards.Newest(*device) : nullptr;
        if (shown == nullptr) continue;
        // The BMC had another reader until now: its values stay until they are too old.
        const auto newest = NewestSample(*shown);
        const bool is_before = !published_.contains(gpu) && newest &&
                               set_.Now().steady - newest->steady < DeviceInfo::kFreshIntervals * interval_;
        if (is_before) continue;
        auto reading = reader_.Reading(gpu, set_.Now());
        if (reading->samples.size() < shown->samples.size()) set_.parts.boards.Publish(*device, std::move(reading));
      }
    }

    void LogOut() {
      if (!connection_->has_session()) return Close();
      is_asking_ = true;
      reader_.CountRequest(set_.Now().steady);
      connection_->Ask({.method = BmcRequest::Method::kLogOut, .target = ""},
                       [self = shared_from_this()](const BmcAnswer&) { self->Close(); });
    }

    void Close() {
      connection_->Close();
      if (const auto stopped = std::exchange(stopped_, nullptr)) stopped();
    }

    Impl& set_;
    const BmcConfig config_;
    const LoginFile logins_;
    asio::steady_timer timer_;
    std::optional<BmcConnection> connection_;
    BmcReader reader_;
    bool is_asking_ = false;
    bool is_logging_in_ = false;  // of what is asked
    bool is_stopped_ = false;
    std::function<void()> stopped_;
    std::map<std::string, std::string> found_;  // the names of devices, by GPU
    std::set<std::string> told_;                // GPUs without a name of their own
    bool is_checked_ = false;                   // whether each listed device has a GPU
    std::set<std::string> published_;           // GPUs
    absl::Duration interval_ = config_.interval;
    std::map<std::string, BoardSnapshots> snapshots_;  // by GPU
  };

  explicit Impl(Parts of) : parts(std::move(of)) {}

  BoardTime Now() const { return {.steady = parts.clock.Steady(), .wall = parts.clock.Now()}; }

  // The devices of all runners are others now.
  void Changed() ABSL_LOCKS_EXCLUDED(mu) {
    std::vector<DeviceConfig> all;
    for (const auto& [name, runner] : runners) {
      for (DeviceConfig& device : runner->devices()) all.push_back(std::move(device));
    }
    absl::MutexLock lock(&mu);
    devices = std::move(all);
    has_news = true;
  }

  // Stops a runner, which lives until it has logged out. `next` has the BMC then: there is one connection at a time.
  void Retire(const std::shared_ptr<Runner>& runner, std::shared_ptr<Runner> next) {
    retired.insert(runner);
    runner->Stop([this, runner = runner.get(), next = std::move(next)] {
      std::erase_if(retired, [&](const auto& other) { return other.get() == runner; });
      if (next != nullptr) next->Run();
      StopIfDone();
    });
  }

  void StopIfDone() {
    if (is_stopping && retired.empty()) io.stop();
  }

  const Parts parts;
  asio::io_context io{1};
  asio::steady_timer stop_timer{io};
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(io);
  std::map<std::string, std::shared_ptr<Runner>> runners;  // by name; used by the thread, once it runs
  std::set<std::shared_ptr<Runner>> retired;               // they log out
  bool is_stopping = false;                                // used by the thread
  bool is_started = false;
  std::thread thread;
  mutable absl::Mutex mu;
  std::vector<DeviceConfig> devices ABSL_GUARDED_BY(mu);
  bool has_news ABSL_GUARDED_BY(mu) = false;
};

BmcSet::BmcSet(Parts parts) : impl_(std::make_unique<Impl>(std::move(parts))) {}

BmcSet::~BmcSet() { Stop(); }

void BmcSet::Configure(const std::vector<BmcConfig>& bmcs) {
  const auto apply = [impl = impl_.get(), bmcs] {
    const auto address = [](const BmcConfig& bmc) { return absl::StrCat(bmc.host, ":", bmc.port, bmc.prefix); };
    std::map<std::string, std::shared_ptr<Impl::Runner>> before;  // by address
    std::erase_if(impl->runners, [&](const auto& entry) {
      const bool stays = std::ranges::find(bmcs, entry.second->config()) != bmcs.end();
      if (!stays) before[address(entry.second->config())] = entry.second;
      return !stays;
    });
    std::map<std::shared_ptr<Impl::Runner>, std::shared_ptr<Impl::Runner>> next;
    for (const BmcConfig& bmc : bmcs) {
      auto& runner = impl->runners[bmc.name];
      if (runner != nullptr) {
        runner->Retry();
        continue;
      }
      const auto old = before.find(address(bmc));
      runner = std::make_shared<Impl::Runner>(*impl, bmc, old == before.end() ? nullptr : old->second.get());
      if (old != before.end()) {
        next[old->second] = runner;
      } else {
        asio::post(impl->io, [runner] { runner->Run(); });
      }
    }
    for (const auto& [where, runner] : before) impl->Retire(runner, next[runner]);
    impl->Changed();
  };
  if (!impl_->thread.joinable()) {
    apply();
    if (impl_->is_started) Start();
    return;
  }
  // The caller sees the devices of the new configuration.
  absl::Notification applied;
  asio::post(impl_->io, [&] {
    apply();
    applied.Notify();
  });
  applied.WaitForNotification();
}

std::vector<DeviceConfig> BmcSet::Devices() const {
  absl::MutexLock lock(&impl_->mu);
  return impl_->devices;
}

bool BmcSet::TakeNews() {
  absl::MutexLock lock(&impl_->mu);
  return std::exchange(impl_->has_news, false);
}

void BmcSet::Start() {
  impl_->is_started = true;
  // Without BMCs there is no thread.
  if (impl_->runners.empty()) return;
  impl_->thread = std::thread([impl = impl_.get()] { impl->io.run(); });
}

void BmcSet::Stop() {
  if (!impl_->thread.joinable()) return;
  asio::post(impl_->io, [impl = impl_.get()] {
    for (const auto& [name, runner] : std::exchange(impl->runners, {})) impl->Retire(runner, nullptr);
    impl->is_stopping = true;
    impl->StopIfDone();
    impl->stop_timer.expires_after(absl::ToChronoNanoseconds(kStopMax));
    impl->stop_timer.async_wait([impl](const boost::system::error_code&) { impl->io.stop(); });
  });
  impl_->thread.join();
  // Some BMCs did not answer in time: the secrets are wiped, and nothing refers to their runners any more.
  for (const auto& runner : std::exchange(impl_->retired, {})) runner->Discard();
}

void BmcSet::Post(std::function<void()> task) {
  if (!impl_->thread.joinable()) return task();
  asio::post(impl_->io, std::move(task));
}

namespace {

// One pass through all requests of a BMC.
class Prober {
 public:
  Prober(const BmcConfig& config, const Clock& clock)
      : config_(config),
        clock_(clock),
        connection_(io_.get_executor(), ConnectionOptions(config)),
        reader_({.requests_per_minute = config.requests_per_minute,
                 .interval = config.interval,
                 .has_links = config.has_links,
                 .login = LoginText(config),
                 .is_probe = true},
                Events(), RandomShare) {}

  absl::StatusOr<std::string> Run() {
    const absl::Duration end = clock_.Steady() + kProbeMax;
    while (!reader_.is_complete() && problem_.empty()) {
      const BoardTime now = Now();
      if (now.steady > end) {
        problem_ = "it takes longer than two minutes";
        break;
      }
      const auto request = reader_.Next(now);
      if (!request) {
        const absl::Duration wait = std::min(reader_.NextTime(now.steady) - now.steady, absl::Seconds(1));
        SteadySleep(wait);
        continue;
      }
      reader_.Take(Ask(*request), Now());
    }
    Ask({.method = BmcRequest::Method::kLogOut, .target = ""});
    if (!problem_.empty()) return Error(problem_);
    if (reader_.gpus().empty()) return Error("it has no GPUs");
    return Description();
  }

 private:
  static constexpr absl::Duration kProbeMax = absl::Minutes(2);

  BoardTime Now() const { return {.steady = clock_.Steady(), .wall = clock_.Now()}; }
  absl::Status Error(absl::string_view what) const {
    return absl::UnavailableError(absl::StrCat("bmc ", config_.name, ": ", what));
  }

  BmcEvents Events() {
    return {.log =
                [this](const std::string& line, bool) {
                  if (!is_up_) problem_ = line;
                  lines_.push_back(line);
                },
            .requested = [](absl::string_view) {},
            .logged_in = [] {},
            .left_out = [this](BmcOmission why, size_t values) { left_out_[why] += values; },
            .period = [this](BmcTopic topic, absl::Duration period) { periods_[topic] = period; },
            .state = [this](BmcState state) { is_up_ = state == BmcState::kUp; }};
  }

  BmcAnswer Ask(const BmcRequest& request) {
    BmcAnswer answer;
    connection_.Ask(request, [&](BmcAnswer of) { answer = std::move(of); });
    io_.restart();
    io_.run();
    return answer;
  }

  absl::StatusOr<std::string> Description() {
    std::string text;
    std::set<std::string> devices;
    const auto add = [&](const auto&... parts) { absl::StrAppend(&text, "bmc ", config_.name, ": ", parts..., "\n"); };
    for (const std::string& line : lines_) add(line);
    size_t position = 0;
    for (const std::string& gpu : reader_.gpus()) {
      const auto reading = reader_.Reading(gpu, Now());
      std::vector<std::string> groups;
      for (const auto& [group, time] : reading->samples) groups.emplace_back(RowOf(group).name);
      const auto model = Find(reading->identity.items, mailbox::SysId::kMarketingName);
      const std::string device = config_.device_pattern.empty() ? ListedName(config_, gpu, *reading)
                                                                : DiscoveredName(config_, IndexOf(gpu, position++));
      devices.insert(device);
      add(gpu, device.empty() ? "" : absl::StrCat(", device ", device), model ? absl::StrCat(" (", *model, ")") : "",
          ": ", reader_.CountValues(gpu), " values", groups.empty() ? "" : ": ", absl::StrJoin(groups, ", "));
    }
    for (const auto& [topic, period] : periods_) {
      if (reader_.SourcesOf(topic).empty()) continue;
      add(kBmcTopics[static_cast<size_t>(topic)], " every ",
          absl::FormatDuration(absl::Floor(period, absl::Milliseconds(100))), ": ", reader_.SourcesOf(topic));
    }
    add("these periods take ", std::ceil(reader_.RequestsPerMinute()), " of ", config_.requests_per_minute,
        " requests a minute");
    for (const auto& [why, values] : left_out_) {
      add(values, " values left out: ", kBmcOmissions[static_cast<size_t>(why)]);
    }
    const std::vector<std::string> missing = MissingDevices(config_, devices, reader_.gpus());
    return missing.empty() ? absl::StatusOr<std::string>(text) : Error(missing.front());
  }

  const BmcConfig& config_;
  const Clock& clock_;
  asio::io_context io_{1};
  BmcConnection connection_;
  BmcReader reader_;
  bool is_up_ = true;
  std::string problem_;
  std::vector<std::string> lines_;
  std::map<BmcTopic, absl::Duration> periods_;
  std::map<BmcOmission, size_t> left_out_;
};

}  // namespace

absl::StatusOr<std::string> ProbeBmc(const BmcConfig& config, const Clock& clock) {
  return Prober(config, clock).Run();
}

}  // namespace sideband::daemon
