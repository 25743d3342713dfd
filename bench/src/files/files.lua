-- Sends one request again and again. Argument: the file with the request's text. This script does not look at the answers,
-- because wrk would then copy them. wrk itself counts the answers whose status is an error.

function init(args)
  local file = assert(io.open(args[1], "rb"))
  text = file:read("*a")
  file:close()
end

function request()
  return text
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"answered":%d,"seconds":%.4f,"bytes":%d,"wrong":%d,"p50":%.4f}\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000))
end
