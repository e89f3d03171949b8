// SPDX-License-Identifier: Apache-2.0
//
// A trace for people and for programs. For people, a transaction is a line with its number, its time, how long it took
// on the bus, and the wires, and below it what it means:
//        1      0.000213     740  S 4F+W 5C 04 02 00 00 80 pec 56 ok P
//                                 -> command: GET_TEMP GPU0
// For programs it is one JSON object per line.
#ifndef SIDEBAND_CLIENT_BUS_TRACE_TEXT_H_
#define SIDEBAND_CLIENT_BUS_TRACE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/bus/trace_decoder.h"

namespace sideband::client {

// How times are written: seconds since the records' start, or, with that start in microseconds since 1970, UTC.
using HostTimeZero = std::optional<uint64_t>;

// Lines are cut at this, between words, as far as the time's width allows.
inline constexpr size_t kTraceColumns = 116;

// Every text ends with a line break.
std::string TraceTitle(HostTimeZero zero);
std::string TraceText(uint64_t number, const TraceEntry& entry, HostTimeZero zero);
std::string LossText(uint64_t transactions, HostTimeZero zero);

std::string TraceJson(uint64_t number, const smbus::BusRecord& record, const TraceEntry& entry, HostTimeZero zero);
std::string LossJson(uint64_t transactions);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_TRACE_TEXT_H_
