"""Other people's environments as engines: each adapter imports its library when it is opened."""
