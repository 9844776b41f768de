"""Offline verification: everything that a release claims, recomputed from the folder and a trusted public key alone."""

from release.verify.release import Verified, verify_release

__all__ = ["Verified", "verify_release"]
