-- Sends the requests of a file, one after the other, over and over. Checks the status, the length, the beginning and the end
-- of every answer. Arguments: the file, the length of the body (0 if it varies), the beginning of the body.
-- A line of the file: method, path, token, client's address, user's id and perhaps a JSON body, separated by tabs.

threads = {}

function setup(thread)
  thread:set("offset", #threads * 7919)
  table.insert(threads, thread)
end

function init(args)
  expected = tonumber(args[2])
  front = args[3]
  prepared = {}
  for line in io.lines(args[1]) do
    local method, path, token, address, user, body = line:match("^(%S+)\t(%S+)\t(%S+)\t(%S+)\t(%S+)\t?(.*)$")
    if body == "" then body = nil end
    prepared[#prepared + 1] = wrk.format(method, path, {
      ["Content-Type"] = body and "application/json" or nil,
      ["Host"] = "bench.local",
      ["Authorization"] = "Bearer " .. token,
      ["X-Forwarded-For"] = address,
      ["X-User"] = user,
    }, body)
  end
  at = offset % #prepared
  answered = 0
  wrong = 0
  firstWrong = ""
end

function request()
  at = at + 1
  if at > #prepared then at = 1 end
  return prepared[at]
end

function response(status, headers, body)
  answered = answered + 1
  local whole = (expected == 0 or #body == expected) and body:sub(1, #front) == front and body:sub(-1) == "}"
  if status ~= 200 or not whole then
    wrong = wrong + 1
    if firstWrong == "" then firstWrong = status .. " " .. body:sub(1, 160) end
  end
end

-- Times in ms: the median, the 99th percentile and the longest.
function report(threads, latency)
  return latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000
end

function done(summary, latency, requests)
  local answered, wrong, firstWrong = 0, 0, ""
  for _, thread in ipairs(threads) do
    answered = answered + thread:get("answered")
    wrong = wrong + thread:get("wrong")
    if firstWrong == "" then firstWrong = thread:get("firstWrong") end
  end
  local errors = summary.errors
  wrong = wrong + errors.connect + errors.read + errors.write + errors.timeout
  local p50, p99, longest = report(threads, latency)
  io.write(string.format(
    '{"answered":%d,"seconds":%.4f,"wrong":%d,"p50":%.4f,"p99":%.4f,"max":%.4f,"firstWrong":"%s"}\n',
    answered, summary.duration / 1e6, wrong, p50, p99, longest,
    firstWrong:gsub('[^%w %.,:{}/%-]', "'")))
end
