// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/bmc/bmc_connection.h"
#include "daemon/bmc/bmc_reader.h"
#include "daemon/bmc/bmc_set.h"
#include "daemon/bmc/bmc_values.h"
#include "daemon/bmc/gpu_values.h"
#include "daemon/bmc/quantities.h"
#include "daemon/bmc/xid_log.h"
#include "daemon/board/board_store.h"
#include "daemon/config/config.h"
#include "daemon/metrics/area_metrics.h"
#include "daemon/snapshot/store.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

void UseBmcConnection(boost::asio::io_context& io, const std::function<void(const BmcAnswer&)>& Use) {
  //@ daemon/bmc/bmc_connection.h
}

void UseBmcReader(const BoardTime& at, BmcEvents events, const std::function<double()>& RandomShare,
                  const std::function<BmcAnswer(const BmcRequest&)>& Ask,
                  const std::function<void(const std::string&, std::shared_ptr<const BoardReading>)>& Publish,
                  const std::function<void(absl::Duration)>& WaitUntil) {
  //@ daemon/bmc/bmc_reader.h
}

absl::Status UseBmcSet(Store& store, BoardStore& boards, BmcMetrics& metrics, const Clock& clock,
                       const std::string& state_folder, const Config& config,
                       const std::function<void(const std::vector<DeviceConfig>&)>& Apply) {
  //@ daemon/bmc/bmc_set.h
  return absl::OkStatus();
}

absl::Status UseBmcValues(
    absl::string_view body,
    const std::function<void(const std::string&, const std::string&, std::optional<absl::Time>)>& Use) {
  //@ daemon/bmc/bmc_values.h
  return absl::OkStatus();
}

void UseGpuValues(const BmcQuantity* row, std::optional<uint8_t> index, const BmcParsed& parsed, absl::Duration time,
                  const BoardTime& now, BoardStore& boards, size_t device) {
  //@ daemon/bmc/gpu_values.h
}

void UseQuantities() {
  //@ daemon/bmc/quantities.h
}

absl::Status UseXidLog(const std::string& target, const std::string& body, const Clock& clock,
                       const std::function<std::string(const std::string&)>& Ask,
                       const std::function<void(const std::vector<mailbox::DriverEvent>&)>& Count) {
  //@ daemon/bmc/xid_log.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
