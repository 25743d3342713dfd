import { hash } from 'node:crypto';
import type { MailKind } from '@kith/contracts';

const style = `:root{color-scheme:light dark;font:1.1rem/1.5 system-ui,sans-serif}
body{max-width:32rem;margin:20vh auto 0;padding:0 1.5rem}
button{font:inherit;padding:.6rem 1.4rem;border:0;border-radius:.5rem;background:#1d4ed8;color:#fff;cursor:pointer}
button:disabled{opacity:.5;cursor:default}
button:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}`;

// The script sends the token in the body of the request, because addresses of requests may be logged. The address of the
// request is relative, because the page may be behind a proxy that changes paths. If the page's own address ends with a slash,
// the relative address has to begin with `../` (spec#addresses-trailing-slash).
const script = `const main=document.querySelector('main'),button=document.querySelector('button'),said=document.querySelector('[role=status]');
button?.addEventListener('click',async()=>{
button.disabled=true;
let answer;
try{answer=await fetch(location.pathname.endsWith('/')?'../verify-email':'verify-email',{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({token:main.dataset.token})})}catch{}
if(answer?.ok){said.textContent=main.dataset.done;button.remove();if(main.dataset.redirect)location.replace(main.dataset.redirect);return}
const error=await answer?.json().catch(()=>undefined);
said.textContent=error?.error??'That did not work. Check your connection and try again.';
button.disabled=false});`;

const source = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;

/** Allows the page only its own script and style, and requests to its own origin. */
export const pagePolicy = [
  "default-src 'none'",
  `script-src ${source(script)}`,
  `style-src ${source(style)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Words {
  title: string;
  text: string;
  button: string;
  done: string;
}

const confirming: Words = {
  title: 'Confirm your e-mail address',
  text: 'Confirm that this e-mail address is yours.',
  button: 'Confirm',
  done: 'Your e-mail address is confirmed. You can close this page.',
};
const undoing: Words = {
  title: 'Undo the change of your e-mail address',
  text: 'Your account gets its former e-mail address back, and is signed out everywhere.',
  button: 'Undo the change',
  done: 'Your account has its former e-mail address back. Now set a new password.',
};

/**
 * The page that a mail's link leads to (spec#accounts-verify-link-button).
 * @param kind What the token is for; null for an invalid token.
 */
export function verifyPage(of: {
  project: string;
  kind: MailKind | null;
  token: string;
  redirect: string | undefined;
}): string {
  const { title, text, button, done } = of.kind === 'emailChanged' ? undoing : confirming;
  const body =
    of.kind === null
      ? '<h1>This link cannot be used any more</h1><p>It has expired, or was used already. Ask for another mail.</p>'
      : `<h1>${title}</h1><p>${text}</p><p><button type="button">${button}</button></p><p role="status"></p><noscript><p>This page needs JavaScript.</p></noscript>`;
  const data = [
    ['token', of.token],
    ['done', done],
    ['redirect', of.redirect ?? ''],
  ].map(([name, value = '']) => `data-${name}="${escaped(value)}"`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(of.project)}</title>
<style>${style}</style>
</head>
<body>
<main ${data.join(' ')}>
${body}
</main>
<script>${script}</script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}
