// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/core.h"

#include <algorithm>

#include "sim/riscv/core_loop.h"
#include "sim/riscv/instruction.h"

namespace sideband::riscv {

void CodeCache::DecodeAt(size_t index) {
  instructions_[index] = Decode(memory_.At<uint32_t>(4 * index));
  begin_ = begin_ == end_ ? index : std::min(begin_, index);
  end_ = std::max(end_, index + 1);
}

void CodeCache::Clear() {
  std::fill(instructions_.data() + begin_, instructions_.data() + end_, Instruction{});
  begin_ = end_ = 0;
}

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

namespace {

constexpr size_t kA0 = 10;
constexpr size_t kA7 = 17;

bool IsCsrOp(Op op) { return op == Op::kCsrWrite || op == Op::kCsrSet || op == Op::kCsrClear; }
bool IsLoad(Op op) { return op >= Op::kLb && op <= Op::kLwu; }
bool IsStore(Op op) { return op >= Op::kSb && op <= Op::kSd; }

uint64_t AccessBytes(Op op) {
  switch (op) {
#define SIDEBAND_RISCV_CASE(name, funct3, type) \
  case Op::name:                                \
    return sizeof(type);
    SIDEBAND_RISCV_LOADS(SIDEBAND_RISCV_CASE)
    SIDEBAND_RISCV_STORES(SIDEBAND_RISCV_CASE)
#undef SIDEBAND_RISCV_CASE
    default:
      return 1;
  }
}

// Without caches: every instruction takes one cycle.
struct FlatTiming {
  bool Fetch(size_t, uint64_t) { return true; }
  bool Load(uint64_t, uint64_t) { return true; }
  bool Store(uint64_t, uint64_t) { return true; }
  void Ran(uint64_t, uint64_t) {}
  void Trapped(uint64_t) {}
  void Interrupted() {}
  bool TakesPort() { return true; }
};

}  // namespace

Core::Core(Memory& memory, const Options& options)
    : memory_(memory),
      port_(options.port),
      environment_(options.environment),
      instructions_max_(options.instructions_max),
      code_(memory),
      csrs_(options.hart),
      pc_(options.pc.value_or(memory.base())) {
  if (environment_ != nullptr) csrs_.set_level(Privilege::kUser);
}

void Core::Run(uint64_t end) {
  FlatTiming timing;
  Advance(timing, end);
}

bool Core::MayContinue() {
  if (!halt_ && instructions_ >= instructions_max_) halt_ = Halt{Halt::Reason::kInstructions, 0, pc_};
  return !halt_;
}

bool Core::TakeInterrupt() {
  if (cycle_ < csrs_.InterruptCycle()) return false;
  Trap(kCauseTimer, 0);
  return true;
}

// Neither an interrupt nor the last instruction is before the result: an instruction takes a cycle at least.
uint64_t Core::UninterruptedEnd(uint64_t end) const {
  return std::min({end, csrs_.InterruptCycle(), cycle_ + std::min(instructions_max_ - instructions_, end - cycle_)});
}

bool Core::IsPortAccess(const Instruction& instruction) const {
  return port_ != nullptr && IsCsrOp(instruction.op) && IsPortCsr(static_cast<uint16_t>(instruction.imm));
}

void Core::Trap(uint64_t cause, uint64_t value) {
  if (environment_ != nullptr) {
    halt_ = Halt{Halt::Reason::kFault, cause, pc_};
  } else {
    pc_ = csrs_.EnterTrap(cause, value, pc_);
  }
  ++cycle_;
}

// The word may have been overwritten since it was decoded; mtval then has the new one.
bool Core::IllegalInstruction() {
  Trap(kCauseIllegal, memory_.At<uint32_t>(pc_ - memory_.base()));
  return false;
}

// Executes what RunFast leaves, in one cycle. Returns whether the instruction is retired: it raised no exception.
bool Core::Step(const Instruction& instruction) {
  const uint64_t address = registers_[instruction.rs1] + static_cast<uint64_t>(int64_t{instruction.imm});
  const bool is_load = IsLoad(instruction.op);
  if (is_load || IsStore(instruction.op)) {
    const bool is_misaligned = address % AccessBytes(instruction.op) != 0;
    const uint64_t misaligned = is_load ? kCauseLoadMisaligned : kCauseStoreMisaligned;
    Trap(is_misaligned ? misaligned : is_load ? kCauseLoadAccess : kCauseStoreAccess, address);
    return false;
  }
  if (!StepOther(instruction)) return false;
  ++cycle_;
  ++instructions_;
  return true;
}

bool Core::StepOther(const Instruction& instruction) {
  switch (instruction.op) {
    case Op::kCsrWrite:
    case Op::kCsrSet:
    case Op::kCsrClear:
      return StepCsr(instruction);
    case Op::kEcall:
      return StepCall();
    case Op::kEbreak:
      Trap(kCauseBreakpoint, pc_);
      return false;
    case Op::kMret:
      return StepReturn();
    case Op::kFenceI:
      code_.Clear();
      pc_ += 4;
      return true;
    case Op::kWfi:
      pc_ += 4;
      return true;
    case Op::kIllegal:
      return IllegalInstruction();
    default:
      return StepJump(instruction);
  }
}

// A jump that RunFast leaves goes to an address that is misaligned, or outside the memory. The latter is the exception
// of the instruction there.
bool Core::StepJump(const Instruction& instruction) {
  const bool is_register = instruction.op == Op::kJalr;
  const uint64_t from = is_register ? registers_[instruction.rs1] : pc_;
  const uint64_t sum = from + static_cast<uint64_t>(int64_t{instruction.imm});
  const uint64_t target = is_register ? sum & ~uint64_t{1} : sum;
  if (target % 4 != 0) {
    Trap(kCauseFetchMisaligned, target);
    return false;
  }
  registers_[instruction.rd] = pc_ + 4;  // of a branch: to nowhere
  pc_ = target;
  return true;
}

std::optional<uint64_t> Core::ReadCsr(uint16_t csr) {
  if (IsPortCsr(csr)) return port_ == nullptr ? std::nullopt : port_->Read(csr, csrs_.level(), cycle_);
  return csr == kMexit ? 0 : csrs_.Read(csr, progress());
}

bool Core::WriteCsr(uint16_t csr, uint64_t value) {
  if (IsPortCsr(csr)) return port_ != nullptr && port_->Write(csr, value, csrs_.level(), cycle_);
  if (csr != kMexit) return csrs_.Write(csr, value, progress());
  halt_ = Halt{Halt::Reason::kExited, value & 0xff, pc_};
  return true;
}

bool Core::StepCsr(const Instruction& instruction) {
  const auto csr = static_cast<uint16_t>(instruction.imm);
  const bool reads = instruction.op != Op::kCsrWrite || instruction.rd != kDiscarded;
  const bool writes = instruction.op == Op::kCsrWrite || instruction.rs1 != 0;
  // Before the read, which may have an effect.
  if (!csrs_.Permits(csr, writes)) return IllegalInstruction();
  std::optional<uint64_t> old = 0;
  if (reads) old = ReadCsr(csr);
  if (!old) return IllegalInstruction();
  const uint64_t operand = instruction.rs2 != 0 ? instruction.rs1 : registers_[instruction.rs1];
  const uint64_t value = instruction.op == Op::kCsrWrite ? operand
                         : instruction.op == Op::kCsrSet ? *old | operand
                                                         : *old & ~operand;
  if (writes && !WriteCsr(csr, value)) return IllegalInstruction();
  registers_[instruction.rd] = *old;
  pc_ += 4;
  return true;
}

bool Core::StepCall() {
  if (environment_ == nullptr) {
    Trap(csrs_.level() == Privilege::kUser ? kCauseUserCall : kCauseMachineCall, 0);
    return false;
  }
  const std::span<const uint64_t, 6> arguments(registers_.data() + kA0, 6);
  const Environment::Result result = environment_->Call(registers_[kA7], arguments, memory_);
  if (result.exit_code) {
    halt_ = Halt{Halt::Reason::kExited, *result.exit_code, pc_};
  } else {
    registers_[kA0] = result.a0;
  }
  pc_ += 4;
  ++cycle_;
  return false;
}

bool Core::StepReturn() {
  if (csrs_.level() != Privilege::kMachine) return IllegalInstruction();
  pc_ = csrs_.Return();
  return true;
}

}  // namespace sideband::riscv
