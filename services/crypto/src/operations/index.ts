// Every operation of the service, by its name without `crypto.`.

export { signTestingJwt as 'sign-testing-jwt' } from './sign-testing-jwt.ts';
export { signTestingJwtV2 as 'sign-testing-jwt-v2' } from './sign-testing-jwt-v2.ts';
