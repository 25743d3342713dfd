import { ApiError } from '@kith/service';
import type { NextFunction } from 'express';
import { expectsContinue } from './body.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';

/** A target is ASCII without controls (RFC 9112 section 3.2); it travels on in header lines. */
const targetForm = /^[\x21-\x7e]+$/;
const hostForm = /^[A-Za-z0-9._~!$&'()*+,;=:[\]%-]*$/;

/**
 * The rules of HTTP/1.1 that Node leaves to the server here, so that they answer with the envelope, too: a target and
 * one Host, both well-formed (RFC 9112 section 3.2), and no expectation but 100-continue (RFC 9110 section 10.1.1).
 */
export function httpRules(request: HttpRequest, _response: HttpResponse, next: NextFunction): void {
  const hosts = request.headersDistinct.host ?? [];
  if (!targetForm.test(request.url)) throw new ApiError('request/invalid-http');
  const missing = hosts.length === 0 && request.httpVersion === '1.1';
  if (missing || hosts.length > 1 || hosts.some((host) => !hostForm.test(host))) {
    throw new ApiError('request/invalid-http');
  }
  const expects = request.headers.expect !== undefined && request.httpVersion === '1.1';
  if (expects && !expectsContinue(request)) throw new ApiError('request/expectation-failed');
  next();
}
