-- Sends the requests of a file at a fixed rate, even if the server cannot answer so many. Counts the answers by their status.
-- The time of a request starts when the request is due. If no connection is free within 20 ms, the request is left out and
-- counted, because it has not reached the server. Arguments: those of open.lua, then the deadline in ms.

local folder = debug.getinfo(1, "S").source:sub(2):match(".*/")
dofile(folder .. "open.lua")
local prepare = init
local mayWaitMs = 20
local apart = 1e6

function init(args)
  prepare(args)
  deadline = tonumber(args[5])
  leftOut, good = 0, 0
  waiting, oldest, newest = {}, 1, 0
  times, counts, told = {}, {}, {}
end

-- wrk calls this function for each connection that is free to send. If the next request is too late, the function leaves out
-- the requests up to the request that is due now.
function delay()
  local now = nowMs()
  began = began or math.floor(now) + 500
  planned = planned + 1
  local current = math.floor((now - began) * rate / 1000)
  if due(planned) < now - mayWaitMs then
    leftOut = leftOut + current - planned
    planned = current
  end
  newest = newest + 1
  waiting[newest] = due(planned)
  return math.max(0, due(planned) - math.floor(now))
end

function request()
  -- Before the start, wrk asks for one request, which it only parses.
  if not began then return take() .. "0\r\n\r\n" end
  sent = sent + 1
  local from = waiting[oldest] or math.floor(nowMs())
  waiting[oldest] = nil
  oldest = oldest + 1
  return take() .. string.format("%.0f", from) .. "\r\n\r\n"
end

function response(status, headers, body)
  answered = answered + 1
  local from = tonumber(headers["X-Request-Id"])
  local known = status == 200 or status == 429 or status == 503 or status == 504
  local whole = status ~= 200 or (expected == 0 or #body == expected) and body:sub(1, #front) == front and body:sub(-1) == "}"
  if not from or not known or not whole then
    wrong = wrong + 1
    if firstWrong == "" then firstWrong = status .. " " .. body:sub(1, 160) end
    if not from then return end
  end
  local took = nowMs() - from
  counts[status] = (counts[status] or 0) + 1
  if status == 200 and took <= deadline then good = good + 1 end
  -- One table for all statuses, because wrk cannot copy nested tables out of a thread.
  local at = status * apart + math.min(math.floor(took / step), apart - 1)
  times[at] = (times[at] or 0) + 1
end

function done(summary, latency, requests)
  local thread = threads[1]
  local times = {}
  for at, count in pairs(thread:get("times")) do
    local status = math.floor(at / apart)
    times[status] = times[status] or {}
    times[status][at % apart] = count
  end
  local parts = {}
  for status, count in pairs(thread:get("counts")) do
    parts[#parts + 1] = string.format('"%d":{"count":%d,"p50":%.4f,"p99":%.4f}', status, count,
      percentile(times[status], 0.5), percentile(times[status], 0.99))
  end
  local errors = summary.errors
  io.write(string.format(
    '{"seconds":%.4f,"sent":%d,"leftOut":%d,"answered":%d,"good":%d,"wrong":%d,"failed":%d,"firstWrong":"%s","statuses":{%s}}\n',
    -- The first request is due half a second after the start.
    summary.duration / 1e6 - 0.5, thread:get("sent"), thread:get("leftOut"), thread:get("answered"), thread:get("good"),
    thread:get("wrong"), errors.connect + errors.read + errors.write + errors.timeout,
    thread:get("firstWrong"):gsub('[^%w %.,:{}/%-]', "'"), table.concat(parts, ",")))
end
