// SPDX-License-Identifier: Apache-2.0
//
// Trace output as text and as JSON. As text, a transaction is a line with its number, its time, its duration on the bus
// and the wires, followed by lines with its meaning:
//        1      0.000213     740  S 4F+W 5C 04 02 00 00 80 pec 56 ok P
//                                 -> command: GET_TEMP GPU0
// As JSON, each transaction is one object per line.
#ifndef SIDEBAND_CLIENT_BUS_TRACE_TEXT_H_
#define SIDEBAND_CLIENT_BUS_TRACE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/bus/trace_decoder.h"

namespace sideband::client {

// The format of times: nullopt prints seconds since the records' start; a value, which is that start in microseconds
// since 1970, prints UTC.
using HostTimeZero = std::optional<uint64_t>;

// The maximum length of a line with a transaction's meaning. Lines break between words only; a longer word exceeds it.
inline constexpr size_t kTraceColumns = 116;

// Every returned text ends with a line break.
std::string TraceTitle(HostTimeZero zero);
std::string TraceText(uint64_t number, const TraceEntry& entry, HostTimeZero zero);
std::string LossText(uint64_t transactions, HostTimeZero zero);

std::string TraceJson(uint64_t number, const smbus::BusRecord& record, const TraceEntry& entry, HostTimeZero zero);
std::string LossJson(uint64_t transactions);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_BUS_TRACE_TEXT_H_
