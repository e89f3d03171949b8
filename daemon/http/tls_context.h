// SPDX-License-Identifier: Apache-2.0
//
// The TLS settings of a listener: clients as configured, TLS 1.3 unless 1.2 is allowed, no resumption.
#ifndef SIDEBAND_DAEMON_HTTP_TLS_CONTEXT_H_
#define SIDEBAND_DAEMON_HTTP_TLS_CONTEXT_H_

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "absl/status/statusor.h"
#include "daemon/config/config.h"
#include "daemon/config/tls_files.h"

namespace sideband::daemon {

// INVALID_ARGUMENT naming the file at fault. `files` are those that `config` names.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(const TlsFiles& files,
                                                                          const TlsServerConfig& config);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_HTTP_TLS_CONTEXT_H_
