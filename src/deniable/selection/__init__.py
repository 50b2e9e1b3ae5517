"""Which groups may be published when the set of groups is itself private."""
