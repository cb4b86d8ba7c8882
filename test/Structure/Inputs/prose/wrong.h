#ifndef WRONG_H
#define WRONG_H

/// What it does.
int attune_documented(void);
int attune_undocumented(void);

#endif
