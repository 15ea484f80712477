"""Uses every call of the client for test/clients/python.test.ts, and prints what it saw as JSON."""

import json
import os
import sys

sys.path.insert(0, os.environ["CLIENT"])
from workron import ApiError, Client, JobFailed, Unreachable  # noqa: E402

client = Client()
seen = {}
job = client.submit(handler="add", input=[1, 2, 3], name="sum", queue="py")
seen["result"] = client.result(job["id"], timeout=60)
seen["attempts"] = [[each["attempt"], each["outcome"], each["usage"]] for each in client.attempts(job["id"])]
sealed = client.submit(handler="add", input=[4, 5], queue="py", seal_input=True)
seen["sealed"] = [sealed["input"], sealed["seal_input"], client.result(sealed["id"], timeout=60)]
one, two = client.submit_all([{"command": "true", "delay": "1h", "name": "listed"} for _ in range(2)])
seen["listed"] = [each["id"] for each in client.jobs(name="listed", limit=1)] == [two["id"], one["id"]]
seen["cancelled"] = client.cancel(one["id"])["status"]
try:
    client.result(one["id"])
except JobFailed as failed:
    seen["failed"] = [failed.job["status"], str(failed).startswith(f"job {one['id']} is cancelled")]
seen["retried"] = client.retry(one["id"])["status"]
try:
    client.wait(two["id"], timeout=0.2)
except TimeoutError:
    seen["timeout"] = True
members = client.submit_gang(3, handler="gang", rules={"on_member_failure": "fail"})
gangs = [client.result(member["id"], timeout=60) for member in members]
seen["gang"] = [[gang["rank"], gang["size"], len(gang["hosts"]), gang["id"] == members[0]["gang"]["id"]] for gang in gangs]
seen["alone"] = client.result(client.submit(handler="gang")["id"], timeout=60)
try:
    client.submit(handler="gang", gang={"size": 2})
except TypeError as error:
    seen["several"] = str(error)
for name, call in {
    "missing": lambda: client.job("999999"),
    "bad": lambda: client.submit(command="true", priority=10**9),
    "nobody": lambda: Client("http://127.0.0.1:1").job("1"),
}.items():
    try:
        call()
    except ApiError as error:
        seen[name] = [error.status, error.code]
    except Unreachable:
        seen[name] = "unreachable"
print(json.dumps(seen))
