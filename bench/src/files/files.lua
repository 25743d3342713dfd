-- Sends one request again and again, of a file of its own where it is large. Arguments: the file of the request's text.
-- Answers are not looked at here, which would copy them: wrk counts those whose status is an error.

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
