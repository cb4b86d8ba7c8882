# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds golden folders by the reference library; see README.md."""
