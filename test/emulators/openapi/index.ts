export { objectViolations, requestViolations, responseViolations } from './conformity';
export { OPENAPI } from './schemas';
