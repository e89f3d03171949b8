#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tells Bazel which revision is built: `bazel build --workspace_status_command=deploy/debian/workspace_status.sh`.
# STABLE_RELEASE is there only if the revision is exactly that of a release's tag.
set -eu
revision=$(git rev-parse HEAD | cut -c 1-7)
git diff --quiet HEAD || revision=$revision-dirty
echo "STABLE_REVISION $revision"
echo "STABLE_COMMIT_TIME $(git show --no-patch --format=%ct HEAD)"
tag=$(git tag --points-at HEAD --list 'v[0-9]*' | head -n 1)
[ -z "$tag" ] || [ "$revision" != "${revision%-dirty}" ] || echo "STABLE_RELEASE $tag"
