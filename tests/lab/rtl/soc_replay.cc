// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/rtl/soc_replay.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/lab/rtl/soc_events.h"

namespace sideband::rtl {
namespace {

using Json = nlohmann::json;

std::string SliceEventName(size_t event) {
  return "slice" + std::to_string(event / kSliceEvents) + "_" + kSliceEventNames[event % kSliceEvents];
}

Json Signals() {
  Json events = Json::array();
  for (size_t core = 0; core < kCores; ++core) {
    for (size_t event = 0; event < kCoreEvents; ++event) {
      events.push_back({{"name", CoreEventName(event)},
                        {"signal", "TOP.core_events"},
                        {"bit", core * kCoreEvents + event},
                        {"op", "high"},
                        {"slice", core}});
    }
  }
  for (size_t event = 0; event < kDeviceEvents; ++event) {
    events.push_back({{"name", DeviceEventName(event)},
                      {"signal", "TOP.device_events"},
                      {"bit", event},
                      {"op", "high"},
                      {"scope", "device"}});
  }
  return {{"clock", "TOP.clk"}, {"events", events}};
}

}  // namespace

std::string CoreEventName(size_t event) {
  return event < kFirstSlice ? kCoreEventNames[event] : SliceEventName(event - kFirstSlice);
}

std::string DeviceEventName(size_t event) { return "device_" + (event == 0 ? "cycles" : SliceEventName(event - 1)); }

std::string SocReplay::Schedule() const {
  std::string rows = "start_cycle,end_cycle,vm,context,slice\n";
  for (const Residency& residency : residencies_) {
    rows += std::to_string(residency.start) + "," + std::to_string(residency.end) + "," + residency.vm + "," +
            residency.context + "," + std::to_string(residency.slice) + "\n";
  }
  return rows;
}

std::string SocReplay::Peeks() const {
  std::vector<Peek> peeks = peeks_;
  std::stable_sort(peeks.begin(), peeks.end(), [](const Peek& a, const Peek& b) { return a.cycle < b.cycle; });
  std::string rows = "cycle,vm,context,event\n";
  for (const Peek& peek : peeks) {
    rows += std::to_string(peek.cycle) + "," + peek.vm + "," + peek.context + "," + peek.event + "\n";
  }
  return rows;
}

Json SocReplay::Execute() const {
  std::ofstream(folder_ + "/signals.json") << Signals();
  std::ofstream(folder_ + "/schedule.csv") << Schedule();
  std::ofstream(folder_ + "/peeks.csv") << Peeks();
  const std::string program = std::string(std::getenv("TEST_SRCDIR")) + "/sideband/secure_mcu/sideband-mcu";
  const std::string command = "cd '" + folder_ + "' && '" + program +
                              "' replay --signals signals.json --trace trace.vcd --schedule schedule.csv "
                              "--peek peeks.csv > answer.json";
  if (std::system(command.c_str()) != 0) return nullptr;
  std::ifstream answer(folder_ + "/answer.json");
  return Json::parse(answer);
}

}  // namespace sideband::rtl
