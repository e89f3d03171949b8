// SPDX-License-Identifier: Apache-2.0
#include "client/demo/rotating_chip.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace sideband::client {
namespace {

constexpr char kRelation[] = "  - {event: instructions_retired_cycles, is_sum_of: [instructions_issued_cycles]}\n";
constexpr char kSecondRelation[] = "  - {event: tensor_issued_cycles, is_sum_of: [tensor_active_cycles]}\n";
constexpr char kCounters[] =
    "    counters: 6\n    fixed: [instructions_issued_cycles]   # counted in every turn, and so exactly\n";
constexpr char kTurns[] =
    "rotation:\n  instructions: instructions_issued_cycles   # its rate tells even from uneven periods\n"
    "  slots: {stable: 200us, fluctuating: 100us}\n";

// Exact, estimated, derived and estimated, derived and exact.
constexpr char kShown[] =
    "instructions_issued_cycles sm_active_cycles tensor_active_cycles tensor_issued_cycles fp32_active_cycles "
    "memory_stall_cycles page_walk_cycles instructions_retired_cycles";

}  // namespace

std::string RotatingChipFile(const std::string& example) {
  return absl::StrReplaceAll(
      example, {{"      - surface_store_cycles\n", "      - {name: tensor_issued_cycles, of: tensor_active_cycles}\n"},
                {kRelation, absl::StrCat(kRelation, kSecondRelation)},
                {"name: vm1", "name: vm4"},
                {"name: vm2", "name: vm5"},
                {"slice: 0, ", "slice: 0, lifetime: 1s, restart: false, "}});
}

std::string ExactTwinFile(const std::string& example) {
  // A period of 127 cycles is too short for 40 counters.
  return absl::StrReplaceAll(RotatingChipFile(example), {{kCounters, ""},
                                                         {"relations:\n", ""},
                                                         {kRelation, ""},
                                                         {kSecondRelation, ""},
                                                         {kTurns, ""},
                                                         {"  period: 127 ", "  period: 511 "},
                                                         {"counter_bits: 7", "counter_bits: 9"},
                                                         {"3e004", "3e005"},
                                                         {"SB-EMU-0004", "SB-EMU-0005"}});
}

std::vector<DemoStep> RotationSteps(const std::string& device, const std::string& twin) {
  // The contexts of both devices end a second after the start; until then their cycles differ.
  const std::string compare = Repeated(absl::StrCat("sideband --config operator.yaml get --device ", device,
                                                    " --device ", twin, " --vm vm4 --bounds | awk -v show='", kShown,
                                                    "' -v skip='^(l2_|resident_)' -f compare.awk"));
  return {{.title = absl::StrCat(device, " has 6 counters for 40 events, which take turns: what is counted together"),
           .command = absl::StrCat("sideband --config operator.yaml rotation plan --device ", device),
           .present = {"tensor_active_cycles"}},
          {.title = absl::StrCat("The estimates of vm4 beside the truth, which ", twin,
                                 " knows: it did the same work with a counter for each event"),
           .command = compare,
           .present = {"40 of 40 within their bounds"},
           .absent = {"NO"}}};
}

}  // namespace sideband::client
