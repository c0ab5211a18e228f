"""The actors as Ray actors: the only folder that names Ray. Thin shells that bear the names of the plain methods.

A shell is made from URLs, since a URL can be sent and a connection cannot. Restarts and retries are on: a call whose
actor died runs again, which the actors' idempotence makes harmless.
"""

import os

# Both are read as Ray loads. "0" keeps a local Ray on loopback; 3 attempts at what is no Ray cluster take two minutes.
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "3")
