// SPDX-License-Identifier: Apache-2.0
//
// The catalogue's section of clock domains (README.md, "Clocks").
//   AppendSection(CatalogSection::kClockDomains, EncodeClockDomains(catalog.clock_domains), out);
//   SIDEBAND_RETURN_IF_ERROR(DecodeClockDomains(payload, catalog.clock_domains));
//   SIDEBAND_RETURN_IF_ERROR(CheckClockDomains(catalog));
#ifndef SIDEBAND_PROTO_MAILBOX_CATALOG_CLOCKS_H_
#define SIDEBAND_PROTO_MAILBOX_CATALOG_CLOCKS_H_

#include <vector>

#include "absl/status/status.h"
#include "proto/base/bytes.h"
#include "proto/mailbox/catalog.h"
#include "proto/mailbox/clocks.h"

namespace sideband::mailbox {

Bytes EncodeClockDomains(const std::vector<ClockDomain>& domains);
// DATA_LOSS: none or more than kClockDomainsMax, truncated, bytes after the end, an unknown flag.
absl::Status DecodeClockDomains(ByteSpan payload, std::vector<ClockDomain>& domains);

// DATA_LOSS: a domain without a name or with that of another of its slice, of an unknown slice, without a frequency or
// a shortest period, whose longest period is shorter or whose bar ends before it begins; an event of an unknown domain.
absl::Status CheckClockDomains(const Catalog& catalog);

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_CATALOG_CLOCKS_H_
