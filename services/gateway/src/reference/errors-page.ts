import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorMeanings, errors, type OperationSpec, operations } from '@kith/contracts';
import { codesOf, tagOf } from '@kith/openapi';

/**
 * Makes the page of error codes. The `type` of a problem is a link to this page. Each code has one section, with the code as
 * its id. If the rest of the reference is shown, too, the page has links to it.
 */
export function errorsPage(part: 'all' | 'errors'): string {
  const isLinked = part === 'all';
  const users = new Map<ErrorCode, OperationSpec[]>();
  for (const operation of operations) {
    for (const code of codesOf(operation)) users.set(code, [...(users.get(code) ?? []), operation]);
  }
  const sections = (Object.keys(errors) as ErrorCode[]).map((code) =>
    sectionOf(code, isLinked ? (users.get(code) ?? []) : []),
  );
  const links = isLinked ? '<nav><a href="/docs">Reference</a><a href="/openapi.json">OpenAPI</a></nav>' : '';
  const home = isLinked ? '/docs' : '/docs/errors';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors of the Kith API</title>
<link rel="icon" href="/docs/icon.png">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<header class="bar"><a class="name" href="${home}">Kith</a>${links}</header>
<main class="errors">
<h1>Errors</h1>
<p>Every answer outside 2xx and 304 says one of these codes: as <code>{"error", "code"}</code>, or, for clients that ask for
<code>application/problem+json</code>, as a problem (RFC 9457) whose <code>type</code> leads here.</p>
${sections.join('\n')}
</main>
</body>
</html>
`;
}

function sectionOf(code: ErrorCode, by: readonly OperationSpec[]): string {
  const { status, message } = errors[code];
  const { when, remedy } = errorMeanings[code];
  // If many endpoints may answer with a code, the code's section does not list these endpoints.
  const who =
    by.length === 0 || by.length > operations.length / 3 ? '' : `<p>${by.map(linkTo).join(' ')}</p>`;
  return `<section id="${code}"><h2><a href="#${code}">${code}</a></h2>
<p><b>${status} ${STATUS_CODES[status]}</b> ${escapeHtml(message)}</p>
<p>${proseOf(when)}</p>
<p><b>What to do</b> ${proseOf(remedy)}</p>${who}</section>`;
}

/** A link to an operation on the reference page. */
function linkTo(operation: OperationSpec): string {
  const tag = encodeURIComponent(tagOf(operation));
  return `<a href="/docs#/${tag}/${operation.name}"><code>${operation.name}</code></a>`;
}

/** Turns a sentence of the contracts into HTML. Text in backticks becomes code. */
function proseOf(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
