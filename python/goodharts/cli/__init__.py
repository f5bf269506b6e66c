"""The console command of Goodharts."""
