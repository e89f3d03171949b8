// SPDX-License-Identifier: Apache-2.0
//
// Any accesses of user and supervisor to the register page of a slice, at any time and between context switches.
// Reserved bits read 0, an empty FIFO reads 0, and a proper request afterwards is answered.
//   Input: a first byte selects the latencies. Then steps: 0 a context switch; 1 and a byte: cycles pass; any other
//   byte and eleven more: a frame of a guest port (proto/registers/guest_port.h), whose first byte is odd for a
//   supervisor.
#include <bit>

#include "proto/registers/guest_port.h"
#include "secure_mcu/chip/live_counts.h"
#include "secure_mcu/pipeline/guest_gate.h"
#include "tests/fuzz/fuzz_target.h"

namespace sideband::fuzz {
namespace {

using mcu::HpcPrivilege;

constexpr uint8_t kSwitch = 0, kWait = 1;
constexpr uint32_t kEvents = 100;
constexpr uint64_t kHpccFields = hpc::kHpccTrigger | hpc::kHpccInterrupted | hpc::kHpccEmpty | hpc::kHpccReaderror |
                                 hpc::kHpccExtend | hpc::kHpccModule | hpc::kHpccUseren | hpc::kHpccRefused |
                                 hpc::kHpccStamp;

// A slice with a resident, whose counts are event and cycle.
class Slice {
 public:
  explicit Slice(mcu::HpcTiming timing)
      : path_({.slices = 1, .events = kEvents, .timing = timing},
              [this](size_t, mcu::HpcManagerId, std::span<const uint16_t> events, std::span<uint64_t> counts) {
                for (size_t i = 0; i < events.size(); ++i) {
                  FUZZ_CHECK(events[i] < kEvents);
                  counts[i] = CountOf(events[i]);
                }
              }) {
    Switch();
  }

  void Switch() { path_.Switch(0, {.vm = true, .context = true, .useren = true}, now_); }

  void Wait(uint64_t cycles) {
    const uint64_t end = now_ + cycles;
    while (path_.NextStop() <= end) {
      FUZZ_CHECK(path_.NextStop() >= now_);
      now_ = path_.NextStop();
      path_.RunTo(now_);
      FUZZ_CHECK(path_.NextStop() > now_);
    }
    now_ = end;
  }

  uint64_t Access(const hpc::PageAccess& access, HpcPrivilege privilege) {
    const auto place = mcu::HpcPlaceOf(access);
    if (!place) return 0;
    const uint64_t hpcc = ReadHpcc();
    uint64_t value = 0;
    if (access.kind == hpc::AccessKind::kRead) {
      value = path_.Read(0, place->which, now_, place->half);
      FUZZ_CHECK(access.size == 8 || value >> 32 == 0);
      const bool takes = place->which == mcu::HpcRegister::kHpcr && place->half != mcu::HpcHalf::kHigh;
      if (takes && (hpcc & hpc::kHpccEmpty) != 0) {
        FUZZ_CHECK(value == 0);
        FUZZ_CHECK((ReadHpcc() & hpc::kHpccReaderror) != 0);
      }
    } else {
      path_.Write(0, place->which, access.value, privilege, now_, place->half);
      if (privilege == HpcPrivilege::kUser) FUZZ_CHECK(((ReadHpcc() ^ hpcc) & hpc::kHpccUseren) == 0);
    }
    Wait(1);
    return value;
  }

  // Whatever was done: cancelled, and asked again properly, the registers give all of a manager's counts, of one cycle.
  void CheckThatARequestWorks() {
    const auto write = [this](uint16_t offset, uint64_t value) {
      Access(hpc::WriteOf(offset, 8, value), HpcPrivilege::kSupervisor);
    };
    write(hpc::kHpccOffset, 0);
    write(hpc::kHpcmOffset, ~uint64_t{0});
    const uint64_t earliest = now_;
    write(hpc::kHpccOffset, hpc::kHpccTrigger | hpc::kHpccStamp);
    for (int polls = 0; (ReadHpcc() & hpc::kHpccTrigger) != 0; ++polls) {
      FUZZ_CHECK(polls < 100);
      Wait(1000);
    }
    FUZZ_CHECK((ReadHpcc() & (hpc::kHpccInterrupted | hpc::kHpccRefused | hpc::kHpccReaderror)) == 0);
    const auto take = [this] { return Access(hpc::ReadOf(hpc::kHpcrOffset, 8), HpcPrivilege::kUser); };
    const uint64_t stamp = take();
    FUZZ_CHECK(stamp >= earliest && stamp <= now_);
    for (uint64_t event = 0; event < hpc::kCountersPerManager; ++event) FUZZ_CHECK(take() == (event << 48 | stamp));
    FUZZ_CHECK((ReadHpcc() & hpc::kHpccEmpty) != 0);
  }

 private:
  uint64_t CountOf(uint16_t event) const { return uint64_t{event} << 48 | now_; }

  uint64_t ReadHpcc() {
    const uint64_t hpcc = path_.Read(0, mcu::HpcRegister::kHpcc, now_);
    FUZZ_CHECK((hpcc & ~kHpccFields) == 0);
    return hpcc;
  }

  uint64_t now_ = 0;
  mcu::HpcReadPath path_;
};

Bytes Step(hpc::PageAccess access, bool is_supervisor) {
  ByteWriter out;
  hpc::AppendFrame(access, out);
  Bytes step = std::move(out).Take();
  // The operation, 1 or 2, moves up by a bit for the privilege; 0 and 1 are other steps.
  step[0] = static_cast<uint8_t>(2 * step[0] + (is_supervisor ? 1 : 0));
  return step;
}

void Add(const Bytes& step, Bytes& seed) { seed.insert(seed.end(), step.begin(), step.end()); }

std::vector<Bytes> Seeds() {
  std::vector<Bytes> seeds;
  for (const uint8_t size : {8, 4}) {
    for (const bool is_supervisor : {false, true}) {
      const uint64_t module = is_supervisor ? hpc::kModuleVm : hpc::kModuleContext;
      Bytes& seed = seeds.emplace_back(Bytes{0});
      Add(Step(hpc::WriteOf(hpc::kHpcmOffset, size, 0b1011), is_supervisor), seed);
      const uint64_t start = hpc::kHpccTrigger | hpc::kHpccUseren | hpc::kHpccStamp | module << hpc::kHpccModuleLsb;
      Add(Step(hpc::WriteOf(hpc::kHpccOffset, size, start), is_supervisor), seed);
      Add({kWait, 20}, seed);
      for (int i = 0; i < 5; ++i) {
        Add(Step(hpc::ReadOf(hpc::kHpccOffset, size), is_supervisor), seed);
        Add(Step(hpc::ReadOf(hpc::kHpcrOffset, size), is_supervisor), seed);
        Add(Step(hpc::ReadOf(hpc::kHpcrOffset + 4, 4), is_supervisor), seed);
      }
      Add({kSwitch}, seed);
      Add(Step(hpc::WriteOf(hpc::kHpccOffset, size, hpc::kHpccTrigger), is_supervisor), seed);
    }
  }
  return seeds;
}

int RunInput(const uint8_t* data, size_t size) {
  ByteReader in({data, size});
  const uint8_t latencies = in.U8();
  fuzz::Slice slice({.hop_cycles = 1u + latencies % 16, .lookup_cycles = 1u + latencies / 16});
  while (in.remaining() > 0) {
    const uint8_t what = in.U8();
    if (what == fuzz::kSwitch) {
      slice.Switch();
    } else if (what == fuzz::kWait) {
      slice.Wait(in.U8());
    } else {
      ByteWriter frame;
      frame.U8(what / 2 % 2 == 0 ? 2 : 1);
      frame.Raw(in.Raw(hpc::kFrameBytes - 1));
      const auto access = frame.size() == hpc::kFrameBytes ? hpc::DecodeFrame(frame.written())
                                                           : absl::InvalidArgumentError("a part of a frame");
      if (access.ok()) slice.Access(*access, what % 2 == 0 ? mcu::HpcPrivilege::kUser : mcu::HpcPrivilege::kSupervisor);
    }
  }
  slice.CheckThatARequestWorks();
  return 0;
}

FUZZ_TARGET(register_page_fuzz);

}  // namespace
}  // namespace sideband::fuzz
