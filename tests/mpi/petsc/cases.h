/* The tests, in the order in which they run. */
#ifndef KRYLITH_TESTS_PETSC_CASES_H
#define KRYLITH_TESTS_PETSC_CASES_H

/* Before the first error, from which on PETSc takes a solve for one within another. */
void reasons(void);

void residuals(void);

void solutions(void);
void second_matrix(void);
void empty_processes(void);
void null_space(void);

void refused_uses(void);
void refused_options(void);

void nothing_left(void);

#endif
