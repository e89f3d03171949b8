// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/csr_file.h"

namespace sideband::riscv {
namespace {

constexpr uint64_t kMisaValue = uint64_t{2} << 62 | 1 << ('I' - 'A') | 1 << ('M' - 'A') | 1 << ('U' - 'A');
constexpr uint64_t kCountersMask = 0xffffffff;
constexpr uint64_t kVectored = 1;  // the mode of mtvec in which interrupts have entries of their own

bool IsWithin(uint16_t csr, uint16_t first, uint16_t last) { return csr >= first && csr <= last; }

}  // namespace

bool CsrFile::PermitsCounter(uint16_t csr) const {
  return level_ == Privilege::kMachine || (counters_enabled_ >> (csr - kCycle) & 1) != 0;
}

bool CsrFile::Permits(uint16_t csr, bool write) const {
  if (write && IsReadOnly(csr)) return false;
  return level_ >= PrivilegeOf(csr) && (!IsWithin(csr, kCycle, kHpmcounter31) || PermitsCounter(csr));
}

std::optional<uint64_t> CsrFile::ReadCounter(uint16_t csr, Progress now) const {
  switch (csr) {
    case kMcycle:
    case kCycle:
      return now.cycle + cycle_offset_;
    case kTime:
      return now.cycle;
    case kMinstret:
    case kInstret:
      return now.instructions + instructions_offset_;
    default:
      break;
  }
  const bool is_zero = IsWithin(csr, kMhpmcounter3, kMhpmcounter31) || IsWithin(csr, kMhpmevent3, kMhpmevent31) ||
                       IsWithin(csr, kCycle, kHpmcounter31);
  return is_zero ? std::optional<uint64_t>(0) : std::nullopt;
}

std::optional<uint64_t> CsrFile::Read(uint16_t csr, Progress now) const {
  if (!Permits(csr, /*write=*/false)) return std::nullopt;
  switch (csr) {
    case kMstatus:
      return (interrupts_enabled_ ? kMstatusMie : 0) | (previous_enabled_ ? kMstatusMpie : 0) |
             static_cast<uint64_t>(previous_) << kMstatusMppShift | kMstatusUxl64;
    case kMisa:
      return kMisaValue;
    case kMie:
      return enabled_;
    case kMip:
      return now.cycle >= time_compare_ ? kTimerInterrupt : 0;
    case kMtvec:
      return vector_;
    case kMcounteren:
      return counters_enabled_;
    case kMscratch:
      return scratch_;
    case kMepc:
      return exception_pc_;
    case kMcause:
      return cause_;
    case kMtval:
      return trap_value_;
    case kMtimecmp:
      return time_compare_;
    case kMhartid:
      return hart_;
    case kMvendorid:
    case kMarchid:
    case kMimpid:
      return 0;
    default:
      return ReadCounter(csr, now);
  }
}

void CsrFile::WriteStatus(uint64_t value) {
  interrupts_enabled_ = (value & kMstatusMie) != 0;
  previous_enabled_ = (value & kMstatusMpie) != 0;
  const auto previous = static_cast<Privilege>((value & kMstatusMpp) >> kMstatusMppShift);
  if (previous == Privilege::kUser || previous == Privilege::kMachine) previous_ = previous;
}

// The value is that of the next instruction: a write takes the place of the increment (volume I, chapter 10).
bool CsrFile::WriteCounter(uint16_t csr, uint64_t value, Progress now) {
  if (csr == kMcycle) {
    cycle_offset_ = value - (now.cycle + 1);
  } else if (csr == kMinstret) {
    instructions_offset_ = value - (now.instructions + 1);
  } else {
    return ReadCounter(csr, now).has_value();  // those that read 0 ignore writes
  }
  return true;
}

bool CsrFile::Write(uint16_t csr, uint64_t value, Progress now) {
  if (!Permits(csr, /*write=*/true)) return false;
  switch (csr) {
    case kMstatus:
      WriteStatus(value);
      return true;
    case kMisa:
    case kMip:
      return true;  // no bit can be written
    case kMie:
      enabled_ = value & kTimerInterrupt;
      return true;
    case kMtvec:
      if ((value & 3) <= kVectored) vector_ = value;
      return true;
    case kMcounteren:
      counters_enabled_ = value & kCountersMask;
      return true;
    case kMscratch:
      scratch_ = value;
      return true;
    case kMepc:
      exception_pc_ = value & ~uint64_t{3};
      return true;
    case kMcause:
      cause_ = value;
      return true;
    case kMtval:
      trap_value_ = value;
      return true;
    case kMtimecmp:
      time_compare_ = value;
      return true;
    default:
      return WriteCounter(csr, value, now);
  }
}

uint64_t CsrFile::EnterTrap(uint64_t cause, uint64_t value, uint64_t pc) {
  exception_pc_ = pc & ~uint64_t{3};
  cause_ = cause;
  trap_value_ = value;
  previous_enabled_ = interrupts_enabled_;
  interrupts_enabled_ = false;
  previous_ = level_;
  level_ = Privilege::kMachine;
  const uint64_t handler = vector_ & ~uint64_t{3};
  const bool has_own_entry = (vector_ & kVectored) != 0 && (cause & kCauseInterrupt) != 0;
  return has_own_entry ? handler + 4 * (cause & ~kCauseInterrupt) : handler;
}

uint64_t CsrFile::Return() {
  interrupts_enabled_ = previous_enabled_;
  previous_enabled_ = true;
  level_ = previous_;
  previous_ = Privilege::kUser;
  return exception_pc_;
}

uint64_t CsrFile::InterruptCycle() const {
  const bool is_taken = level_ == Privilege::kUser || interrupts_enabled_;
  return is_taken && (enabled_ & kTimerInterrupt) != 0 ? time_compare_ : kNever;
}

}  // namespace sideband::riscv
