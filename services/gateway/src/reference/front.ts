import { writeAnswer } from '../http/answer.ts';
import { bytesOf } from '../http/error-answer.ts';
import { vary } from '../http/exchange.ts';
import type { Middleware } from '../http/middleware.ts';

const front = { name: 'Kith', reference: '/docs', errors: '/docs/errors', openapi: '/openapi.json' } as const;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kith</title>
<link rel="icon" href="/docs/icon.png">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<header class="bar"><a class="name" href="/docs">Kith</a><nav><a href="/docs">Reference</a><a href="/docs/errors">Errors</a><a href="/openapi.json">OpenAPI</a></nav></header>
<main class="errors">
<h1>Kith runs here</h1>
<p>This is the address of the API. Its endpoints begin with <code>/v7/</code> and the id of a project. The terminal
that started Kith shows the id of a project, and requests that you can paste.</p>
<ul>
<li><a href="/docs">The reference</a>: every endpoint, with a form to try it out</li>
<li><a href="/docs/errors">The errors</a>: what each code means and what to do about it</li>
<li><a href="/openapi.json">The OpenAPI document</a>: for tools</li>
</ul>
</main>
</body>
</html>
`;

/** Answers `/` in development: says where the reference is, as JSON for a program and as a page for a browser. */
export function serveFront(): Middleware {
  const [json, html] = [bytesOf(front), new TextEncoder().encode(page)];
  return (request, response, next) => {
    const [path] = (request.url ?? '').split('?', 1);
    const isAsked = path === '/' && (request.method === 'GET' || request.method === 'HEAD');
    if (!isAsked) return next();
    response.locals.operation = 'gateway.reference';
    vary(response, 'Accept');
    const isPage = request.accepts('json', 'html') === 'html';
    const headers = {
      'Content-Type': isPage ? 'text/html; charset=utf-8' : 'application/json',
      'Cache-Control': 'no-cache',
    };
    writeAnswer(request, response, { status: 200, headers, body: isPage ? html : json });
  };
}
