// SPDX-License-Identifier: Apache-2.0
#include "sim/riscv/core.h"

#include <algorithm>

#include "sim/riscv/core_loop.h"

namespace sideband::riscv {
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
