Numbers that touch each other                                           touch   
             3             1             1             1
rua                          2             2             4             0
(4I1)           (6I1)           (4E8.1)             
135
1212
-1.0E+00-2.0E+00-3.0E+00-4.0E+00
