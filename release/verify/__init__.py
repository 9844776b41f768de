"""Offline verification: everything that a release claims, recomputed from the folder and a trusted public key alone."""

from release.verify.release import Verified, signed_excerpt, verify_release

__all__ = ["Verified", "signed_excerpt", "verify_release"]
