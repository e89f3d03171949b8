// SPDX-License-Identifier: Apache-2.0
#include "proto/envelope/open.h"

#include "proto/base/status_macros.h"
#include "proto/envelope/hpke.h"

namespace sideband::envelope {

static_assert(kTagBytes == kAeadTagBytes);

absl::StatusOr<SecretBytes> OpenRecord(const SessionKeys& keys, const RecordView& record) {
  // The status is the same as for a wrong tag.
  if (KeyScope::Of(record.header) != keys.scope()) return absl::InvalidArgumentError("not sealed with this key");
  SecretBytes text(record.ciphertext.begin(), record.ciphertext.end());
  SIDEBAND_RETURN_IF_ERROR(AeadOpen(keys.key(), keys.NonceFor(record.header.sequence), record.header_bytes, text,
                                    record.tag.first<kAeadTagBytes>()));
  SIDEBAND_ASSIGN_OR_RETURN(const ByteSpan content, ContentOf(text));
  return SecretBytes(content.begin(), content.end());
}

}  // namespace sideband::envelope
