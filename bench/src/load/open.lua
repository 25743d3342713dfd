-- Sends the requests of a file at a fixed rate, even if earlier requests are not answered yet. The time of a request starts
-- when the request is due, so it contains the wait for a free connection. Arguments: those of requests.lua, then the rate in
-- requests per second. Requests are due in ticks of one millisecond (wrk's clock). The request id is the time when a request
-- was due. Kith's gateway returns the id with the answer.

local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds; long micros; } bench_time;
  int gettimeofday(bench_time *now, void *zone);
]])
local clock = ffi.new("bench_time")

function nowMs()
  ffi.C.gettimeofday(clock, nil)
  return tonumber(clock.seconds) * 1e3 + tonumber(clock.micros) / 1e3
end

dofile(debug.getinfo(1, "S").source:sub(2):match(".*/") .. "requests.lua")
take = request
local prepare, check = init, response

-- Times are counted in steps of 0.05 ms.
step = 0.05

function init(args)
  prepare(args)
  rate = tonumber(args[4])
  for at, text in ipairs(prepared) do prepared[at] = text:sub(1, -3) .. "X-Request-Id: " end
  planned, sent, longest = 0, 0, 0
  times = {}
end

function due(number)
  return began + math.floor(number * 1000 / rate)
end

-- wrk calls this function for each connection that is free to send. wrk waits for the returned time, and then asks for the
-- request. Requests are sent in the order in which they are due.
function delay()
  began = began or math.floor(nowMs()) + 500
  planned = planned + 1
  return math.max(0, due(planned) - math.floor(nowMs()))
end

function request()
  -- Before the start, wrk asks for one request, which it only parses.
  if not began then return take() .. "0\r\n\r\n" end
  sent = sent + 1
  return take() .. string.format("%.0f", due(sent)) .. "\r\n\r\n"
end

function response(status, headers, body)
  check(status, headers, body)
  local from = tonumber(headers["X-Request-Id"])
  if not from then
    wrong = wrong + 1
    return
  end
  local took = nowMs() - from
  local at = math.floor(took / step)
  times[at] = (times[at] or 0) + 1
  if took > longest then longest = took end
end

function percentile(counts, share)
  local steps, all = {}, 0
  for at, count in pairs(counts) do
    steps[#steps + 1] = at
    all = all + count
  end
  table.sort(steps)
  local passed = 0
  for _, at in ipairs(steps) do
    passed = passed + counts[at]
    if passed >= share * all then return (at + 1) * step end
  end
  return 0
end

function report(threads)
  local thread = threads[1]
  local counts = thread:get("times")
  return percentile(counts, 0.5), percentile(counts, 0.99), thread:get("longest")
end
